'use strict';

const LITERAL = /^(\t| {4})/;

/** Split text at blank lines; indented blocks are kept as they are. */
function paragraphs(text) {
  const blocks = [];
  let lines = [];
  const flush = () => {
    if (lines.length > 0) blocks.push(makeBlock(lines));
    lines = [];
  };
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') flush();
    else lines.push(line.trimEnd());
  }
  flush();
  return blocks;
}

function makeBlock(lines) {
  const literal = lines.every((line) => LITERAL.test(line));
  if (literal) return { literal, lines, words: [] };
  const words = lines.join(' ').split(/\s+/).filter(Boolean);
  return { literal, lines, words };
}

module.exports = { paragraphs };
