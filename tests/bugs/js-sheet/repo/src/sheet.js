import { FormulaError, parse } from './formula.js';
import { FUNCTIONS, SheetError } from './functions.js';

const SIGNS = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => {
    if (b === 0) throw new SheetError('#DIV/0!');
    return a / b;
  },
  '^': (a, b) => a ** b,
};

function column(letters) {
  return [...letters].reduce((n, ch) => n * 26 + ch.charCodeAt(0) - 64, 0);
}

function letters(n) {
  let text = '';
  for (; n > 0; n = Math.floor((n - 1) / 26)) {
    text = String.fromCharCode(65 + ((n - 1) % 26)) + text;
  }
  return text;
}

/** All cells of a rectangle, row by row. */
export function cellsOf(first, last) {
  const [a, b] = [first, last].map((name) => {
    const [, col, row] = /^([A-Z]+)(\d+)$/.exec(name);
    return [column(col), Number(row)];
  });
  const names = [];
  for (let row = Math.min(a[1], b[1]); row <= Math.max(a[1], b[1]); row++) {
    for (let col = Math.min(a[0], b[0]); col <= Math.max(a[0], b[0]); col++) {
      names.push(letters(col) + row);
    }
  }
  return names;
}

export class Sheet {
  constructor(cells = {}) {
    this.cells = new Map();
    this.values = new Map();
    this.open = new Set();
    for (const [name, text] of Object.entries(cells)) this.set(name, text);
  }

  set(name, content) {
    this.cells.set(name, content);
    this.values.clear();
  }

  /** What is shown: a number, a text, or the code of an error. */
  get(name) {
    try {
      const value = this.value(name);
      return value === null ? '' : value;
    } catch (error) {
      if (error instanceof SheetError) return error.message;
      if (error instanceof FormulaError) return '#ERROR!';
      throw error;
    }
  }

  /** null for an empty cell. */
  value(name) {
    if (this.values.has(name)) return this.values.get(name);
    const content = this.cells.has(name) ? this.cells.get(name) : null;
    if (typeof content !== 'string' || !content.startsWith('=')) return content;
    if (this.open.has(name)) throw new SheetError('#CIRCLE!');
    this.open.add(name);
    try {
      const value = this.evaluate(parse(content.slice(1)));
      this.values.set(name, value);
      return value;
    } finally {
      this.open.delete(name);
    }
  }

  evaluate(tree) {
    switch (tree.type) {
      case 'number': return tree.value;
      case 'cell': return this.number(tree.name);
      case 'minus': return -this.evaluate(tree.of);
      case 'binary':
        return SIGNS[tree.sign](this.evaluate(tree.left),
          this.evaluate(tree.right));
      case 'call': return this.call(tree);
      default: throw new SheetError('#VALUE!');
    }
  }

  number(name) {
    const value = this.value(name);
    if (typeof value === 'string') throw new SheetError('#VALUE!');
    return value === null ? 0 : value;
  }

  /** Functions get numbers; what is empty or text in a range is left out. */
  call({ name, args }) {
    if (!Object.hasOwn(FUNCTIONS, name)) throw new SheetError('#NAME?');
    const numbers = args.flatMap((arg) => (arg.type === 'range'
      ? cellsOf(arg.first, arg.last).map((cell) => this.value(cell))
        .filter((value) => typeof value === 'number')
      : [this.evaluate(arg)]));
    return FUNCTIONS[name](numbers);
  }
}
