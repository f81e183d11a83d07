'use strict';

const { CsvError, Parser } = require('./parser');

function parse(text, options) {
  const rows = [];
  const parser = new Parser((row) => rows.push(row), options);
  parser.write(text).end();
  return rows;
}

/**
 * Rows from pieces that come in time; what comes first are the names. Empty
 * lines are left out.
 */
async function* records(pieces, options) {
  let waiting = [];
  let names = null;
  const parser = new Parser((row, line) => waiting.push([row, line]), options);

  function* ready() {
    const rows = waiting;
    waiting = [];
    for (const [row, line] of rows) {
      if (row.length === 1 && row[0] === '') continue;
      if (!names) {
        names = row.map((name) => name.trim());
        continue;
      }
      if (row.length > names.length) {
        throw new CsvError(`${row.length} fields`, line);
      }
      yield Object.fromEntries(names.map((name, at) => [name, row[at] ?? '']));
    }
  }

  for await (const piece of pieces) {
    parser.write(piece);
    yield* ready();
  }
  parser.end();
  yield* ready();
}

function quote(value, separator) {
  const text = value === null || value === undefined ? '' : String(value);
  const special = ['"', '\n', '\r', separator].some((ch) => text.includes(ch));
  return special ? `"${text.replaceAll('"', '""')}"` : text;
}

function format(rows, { separator = ',', newline = '\n' } = {}) {
  return rows.map((row) => row.map((value) => quote(value, separator))
    .join(separator) + newline).join('');
}

module.exports = { CsvError, Parser, format, parse, records };
