'use strict';

class CsvError extends Error {
  constructor(message, line) {
    super(`line ${line}: ${message}`);
    this.line = line;
  }
}

/**
 * Takes a text in pieces that may be cut anywhere. Rows end with LF, CR LF, or
 * CR alone; fields in quotes hold all of them, and two quotes for one.
 */
class Parser {
  constructor(onRow, { separator = ',' } = {}) {
    this.onRow = onRow;
    this.separator = separator;
    this.line = 1;
    this.row = [];
    this.field = '';
    this.state = 'start';
  }

  write(piece) {
    for (const ch of piece) this.take(ch);
    return this;
  }

  take(ch) {
    switch (this.state) {
      case 'quoted':
        if (ch === '"') this.state = 'quote';
        else this.field += ch;
        if (ch === '\n') this.line += 1;
        break;
      case 'quote':
        if (ch === '"') {
          this.field += ch;
          this.state = 'quoted';
        } else if (!this.mark(ch)) {
          throw new CsvError('text behind a quote', this.line);
        }
        break;
      default:
        if (this.mark(ch)) break;
        if (ch === '"' && this.state === 'start') {
          this.state = 'quoted';
        } else {
          this.field += ch;
          this.state = 'plain';
        }
    }
  }

  /** Ends a field or a row, if it is a mark that does. */
  mark(ch) {
    if (ch === this.separator) {
      this.endField();
    } else if (ch === '\n' || ch === '\r') {
      this.endRow();
    } else {
      return false;
    }
    return true;
  }

  endField() {
    this.row.push(this.field);
    this.field = '';
    this.state = 'start';
  }

  endRow() {
    this.endField();
    const row = this.row;
    this.row = [];
    this.onRow(row, this.line);
    this.line += 1;
  }

  end() {
    if (this.state === 'quoted') {
      throw new CsvError('the quote is not closed', this.line);
    }
    if (this.row.length > 0 || this.state !== 'start') this.endRow();
  }
}

module.exports = { CsvError, Parser };
