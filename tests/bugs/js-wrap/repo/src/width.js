'use strict';

/** Ranges of code points that take two columns. */
const WIDE = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xff00, 0xff60],
  [0x1f300, 0x1faff],
];

function isWide(code) {
  return WIDE.some(([low, high]) => code >= low && code <= high);
}

/** Columns that a string takes on a terminal. */
function width(text) {
  let columns = 0;
  for (const ch of text) columns += isWide(ch.codePointAt(0)) ? 2 : 1;
  return columns;
}

/** Cut off the longest start of text that fits, never less than one sign. */
function take(text, limit) {
  let head = '';
  for (const ch of text) {
    if (head && width(head + ch) > limit) break;
    head += ch;
  }
  return head;
}

module.exports = { take, width };
