'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { decode, encode } = require('../src/vlq');

test('one digit', () => {
  assert.deepStrictEqual([0, 1, -1, 15, -15].map(encode), ['A', 'C', 'D', 'e', 'f']);
  assert.deepStrictEqual(decode('ACDef'), [0, 1, -1, 15, -15]);
});

test('two digits', () => {
  assert.deepStrictEqual([16, -16, 511].map(encode), ['gB', 'hB', '+f']);
  assert.deepStrictEqual(decode('gBhB+f'), [16, -16, 511]);
});

test('many digits', () => {
  assert.strictEqual(encode(123456), 'gkxH');
  assert.deepStrictEqual(decode('gkxHhkxH'), [123456, -123456]);
});

test('there and back', () => {
  const numbers = [0, 31, 32, -512, 1023, 1024, 2 ** 31 - 1, 1 - 2 ** 31];
  assert.deepStrictEqual(decode(numbers.map(encode).join('')), numbers);
});

test('what can not be encoded', () => {
  for (const n of [1.5, NaN, 2 ** 31]) {
    assert.throws(() => encode(n), RangeError);
  }
});

test('bad texts', () => {
  assert.throws(() => decode('A-'), SyntaxError);
  assert.throws(() => decode('gg'), SyntaxError);
});

test('nothing', () => {
  assert.deepStrictEqual(decode(''), []);
});
