'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { part, show, spread } = require('../src/money');

test('part', () => {
  assert.deepStrictEqual([part(250, 10), part(249, 10), part(5, 10)], [25, 25, 1]);
});

test('spread', () => {
  assert.deepStrictEqual(spread(100, [1, 1, 1]), [34, 33, 33]);
  assert.deepStrictEqual(spread(10, [0, 5, 15]), [0, 3, 7]);
  assert.deepStrictEqual(spread(0, [3, 4]), [0, 0]);
  assert.deepStrictEqual(spread(5, [0, 0]), [0, 0]);
});

test('show', () => {
  assert.deepStrictEqual([5, 123456, -40].map(show), ['0.05', '1234.56', '-0.40']);
});
