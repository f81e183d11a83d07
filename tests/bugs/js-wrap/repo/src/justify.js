'use strict';

const { width } = require('./width');

/** Widen the gaps, leftmost first, until the line is as wide as limit. */
function stretch(line, limit) {
  const words = line.split(' ');
  const gaps = words.length - 1;
  const missing = limit - width(line);
  if (gaps === 0 || missing <= 0) return line;
  const each = Math.floor(missing / gaps);
  const extra = missing % gaps;
  return words.reduce((out, word, i) => {
    const more = each + (i <= extra ? 1 : 0);
    return out + ' '.repeat(1 + more) + word;
  });
}

/** All lines but the last one end at the right margin. */
function justify(lines, limit) {
  const last = lines.length - 1;
  return lines.map((line, i) => (i < last ? stretch(line, limit) : line));
}

module.exports = { justify, stretch };
