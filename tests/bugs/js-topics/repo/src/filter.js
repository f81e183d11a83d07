'use strict';

const ONE = '+';
const REST = '#';

function levels(text) {
  if (text === '') throw new TypeError('empty topic');
  return text.split('/');
}

function checkTopic(text) {
  if (/[+#\0]/.test(text)) throw new TypeError(`no wildcards here: ${text}`);
  return levels(text);
}

/** Wildcards fill their level, and # is the last one. */
function checkFilter(text) {
  const parts = levels(text);
  parts.forEach((part, at) => {
    if (part.length > 1 && /[+#]/.test(part)) {
      throw new TypeError(`wildcard in a level: ${text}`);
    }
    if (part === REST && at < parts.length - 1) {
      throw new TypeError(`# is not the last: ${text}`);
    }
  });
  return parts;
}

function matches(filter, topic) {
  const wanted = levels(filter);
  const given = levels(topic);
  for (let at = 0; at < wanted.length; at++) {
    if (wanted[at] === REST) return true;
    if (at >= given.length) return false;
    if (wanted[at] !== ONE && wanted[at] !== given[at]) return false;
  }
  return wanted.length === given.length;
}

module.exports = { checkFilter, checkTopic, matches };
