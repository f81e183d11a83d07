'use strict';

const { decode, encode } = require('./vlq');

const LENGTHS = [1, 4, 5];

/** Collects where the parts of a generated file came from. */
class Writer {
  constructor(file) {
    this.file = file;
    this.sources = [];
    this.names = [];
    this.lines = [[]];
  }

  index(list, item) {
    const at = list.indexOf(item);
    return at < 0 ? list.push(item) - 1 : at;
  }

  /** Lines and columns count from 0. */
  add(line, column, origin = null) {
    while (this.lines.length <= line) this.lines.push([]);
    const mark = [column];
    if (origin) {
      mark.push(this.index(this.sources, origin.source), origin.line,
        origin.column);
      if (origin.name) mark.push(this.index(this.names, origin.name));
    }
    this.lines[line].push(mark);
  }

  toJSON() {
    const last = [0, 0, 0, 0, 0];
    const mappings = this.lines.map((marks) => {
      last[0] = 0;
      return [...marks].sort((a, b) => a[0] - b[0])
        .map((mark) => mark.map((n, at) => {
          const text = encode(n - last[at]);
          last[at] = n;
          return text;
        }).join('')).join(',');
    }).join(';');
    return { version: 3, file: this.file, sources: this.sources,
      names: this.names, mappings };
  }
}

/** Looks up where something came from. */
class Reader {
  constructor({ version, sources, names, mappings }) {
    if (version !== 3) throw new TypeError(`version ${version}`);
    this.sources = sources;
    this.names = names;
    const last = [0, 0, 0, 0, 0];
    this.lines = mappings.split(';').map((line) => {
      last[0] = 0;
      return line.split(',').filter(Boolean).map((text) => {
        const steps = decode(text);
        if (!LENGTHS.includes(steps.length)) {
          throw new SyntaxError(`${steps.length} numbers in ${text}`);
        }
        return steps.map((step, at) => {
          last[at] += step;
          return last[at];
        });
      });
    });
  }

  /** The last mark of the line that is not behind the column, or null. */
  find(line, column) {
    const marks = this.lines[line] || [];
    let low = 0;
    let high = marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (marks[middle][0] <= column) low = middle + 1;
      else high = middle;
    }
    const mark = marks[low - 1];
    if (!mark || mark.length === 1) return null;
    const found = { source: this.sources[mark[1]], line: mark[2], column: mark[3] };
    return mark.length === 5 ? { ...found, name: this.names[mark[4]] } : found;
  }
}

module.exports = { Reader, Writer };
