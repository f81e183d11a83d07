'use strict';

const { Line } = require('./line');
const { take, width } = require('./width');

/** Break words that are wider than a whole line. */
function* pieces(words, limit) {
  for (const word of words) {
    let rest = word;
    while (width(rest) > limit) {
      const head = take(rest, limit);
      yield head;
      rest = rest.slice(head.length);
    }
    if (rest) yield rest;
  }
}

function wrap(words, limit) {
  const lines = [];
  let line = new Line(limit);
  for (const word of pieces(words, limit)) {
    if (!line.empty && !line.fits(word)) {
      lines.push(line.toString());
      line = new Line(limit);
    }
    line.add(word);
  }
  if (!line.empty) lines.push(line.toString());
  return lines;
}

module.exports = { wrap };
