'use strict';

const LINE = /^(\d+):(\d\d)(?::(\d\d))?\s+(\S+)\s+(\S+)(?:\s+(\d{3}))?$/;

/** "9:05:30 ann /cart 200" -> { at: seconds, user, page, status } */
function parseLine(text) {
  const found = LINE.exec(text.trim());
  if (!found) throw new SyntaxError(`bad line: ${text}`);
  const [, hours, minutes, seconds, user, page, status] = found;
  return {
    at: Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds || 0),
    user,
    page: page.split('?')[0],
    status: Number(status || 200),
  };
}

function parseLog(text) {
  return text.split('\n')
    .filter((line) => line.trim() && !line.startsWith('#'))
    .map(parseLine)
    .sort((a, b) => a.at - b.at);
}

module.exports = { parseLine, parseLog };
