/** Formulas become trees: = SUM(A1:A3) * 2 - B1 */

export class FormulaError extends Error {}

const TOKEN = /\s*(?:(\d+(?:\.\d+)?)|([A-Z]+\d+)|([A-Z]+)|([-+*/^():,]))/y;

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new FormulaError(`what is this: ${text.slice(at)}`);
    const [, number, cell, name, sign] = match;
    if (number) found.push({ type: 'number', value: Number(number) });
    else if (cell) found.push({ type: 'cell', value: cell });
    else if (name) found.push({ type: 'name', value: name });
    else found.push({ type: sign, value: sign });
  }
  return found;
}

const STRENGTH = { '+': 1, '-': 1, '*': 2, '/': 2, '^': 4 };
const MINUS = 3;

export function parse(text) {
  const rest = tokens(text);
  const peek = () => (rest.length ? rest[0].type : 'end');
  const take = (type) => {
    if (peek() !== type) throw new FormulaError(`${type} expected, not ${peek()}`);
    return rest.shift().value;
  };

  function range() {
    const first = take('cell');
    if (peek() !== ':') return { type: 'cell', name: first };
    take(':');
    return { type: 'range', first, last: take('cell') };
  }

  function call() {
    const name = take('name');
    const args = [];
    take('(');
    while (peek() !== ')') {
      args.push(binary(0));
      if (peek() !== ')') take(',');
    }
    take(')');
    return { type: 'call', name, args };
  }

  function operand() {
    switch (peek()) {
      case 'number': return { type: 'number', value: take('number') };
      case 'cell': return range();
      case 'name': return call();
      case '-': take('-'); return { type: 'minus', of: binary(MINUS) };
      default: {
        take('(');
        const inner = binary(0);
        take(')');
        return inner;
      }
    }
  }

  function binary(least) {
    let left = operand();
    while (STRENGTH[peek()] > least) {
      const sign = rest.shift().value;
      // Powers are read from the right.
      const right = binary(sign === '^' ? MINUS : STRENGTH[sign]);
      left = { type: 'binary', sign, left, right };
    }
    return left;
  }

  const tree = binary(0);
  if (rest.length) throw new FormulaError(`too much: ${rest[0].value}`);
  return tree;
}
