'use strict';

/**
 * Numbers as digits to the base 64, the least first: of the six bits of a digit
 * one says that there are more. The lowest bit of a number is its sign.
 */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BITS = 5;
const MORE = 1 << BITS;
const MASK = MORE - 1;
const LIMIT = 2 ** 31;

function encode(number) {
  if (!Number.isInteger(number) || Math.abs(number) >= LIMIT) {
    throw new RangeError(`can't encode ${number}`);
  }
  let rest = number < 0 ? -number * 2 + 1 : number * 2;
  let text = '';
  do {
    const digit = rest % MORE;
    rest = Math.floor(rest / MORE);
    text += DIGITS[rest > 0 ? digit + MORE : digit];
  } while (rest > 0);
  return text;
}

/** All numbers of a text. */
function decode(text) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const ch of text) {
    const digit = DIGITS.indexOf(ch);
    if (digit < 0) throw new SyntaxError(`bad digit ${ch} in ${text}`);
    value += (digit & MASK) << shift;
    if (digit & MORE) {
      shift += BITS;
      continue;
    }
    const size = Math.floor(value / 2);
    numbers.push(value % 2 ? -size : size);
    value = 0;
    shift = 0;
  }
  if (shift > 0) throw new SyntaxError(`${text} is cut off`);
  return numbers;
}

module.exports = { decode, encode };
