'use strict';

const { paragraphs } = require('./paragraphs');
const { wrap } = require('./wrap');
const { justify } = require('./justify');

/** Format text for a terminal: refill, indent and, if asked, justify it. */
function format(text, { columns = 72, indent = 0, align = 'left' } = {}) {
  const limit = columns - indent;
  if (limit < 1) throw new RangeError('indent leaves no room for text');
  const pad = ' '.repeat(indent);
  const blocks = paragraphs(text).map((block) => {
    if (block.literal) return block.lines;
    const lines = wrap(block.words, limit);
    return align === 'both' ? justify(lines, limit) : lines;
  });
  return blocks
    .map((lines) => lines.map((line) => (line ? pad + line : line)).join('\n'))
    .join('\n\n');
}

module.exports = { format };
