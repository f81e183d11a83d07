import test from 'node:test';
import assert from 'node:assert';
import { Sheet, cellsOf } from '../src/sheet.js';

const calc = (formula, cells = {}) => new Sheet({ ...cells, X1: formula }).get('X1');

test('numbers and signs', () => {
  assert.strictEqual(calc('=1 + 2 * 3'), 7);
  assert.strictEqual(calc('=(1 + 2) * 3'), 9);
  assert.strictEqual(calc('=8 - 3 - 2'), 3);
  assert.strictEqual(calc('=12 / 3 / 2'), 2);
});

test('powers and minus', () => {
  assert.strictEqual(calc('=2 ^ 3 ^ 2'), 512);
  assert.strictEqual(calc('=-2 ^ 2'), -4);
  assert.strictEqual(calc('=3 * -2'), -6);
});

test('cells', () => {
  assert.strictEqual(calc('=A1 * B2', { A1: 4, B2: '=A1 + 1' }), 20);
  assert.strictEqual(calc('=A1 + 1'), 1);
});

test('texts are not for calculating', () => {
  assert.strictEqual(calc('=A1 + 1', { A1: 'tea' }), '#VALUE!');
  assert.strictEqual(calc('=A1:A3'), '#VALUE!');
});

test('mistakes in formulas', () => {
  for (const text of ['=', '=1 +', '=(1', '=1 2', '=a1', '=SUM(1']) {
    assert.strictEqual(calc(text), '#ERROR!', text);
  }
  assert.strictEqual(calc('=NOPE(1)'), '#NAME?');
});

test('division by zero', () => {
  assert.strictEqual(calc('=1 / A1'), '#DIV/0!');
  assert.strictEqual(calc('=B1 + 1', { B1: '=1/0' }), '#DIV/0!');
});

test('circles', () => {
  const sheet = new Sheet({ A1: '=B1', B1: '=A1 + 1', C1: 5 });
  assert.strictEqual(sheet.get('A1'), '#CIRCLE!');
  assert.strictEqual(sheet.get('C1'), 5);
});

test('a change is seen', () => {
  const sheet = new Sheet({ A1: 1, B1: '=A1 * 2' });
  assert.strictEqual(sheet.get('B1'), 2);
  sheet.set('A1', 5);
  assert.strictEqual(sheet.get('B1'), 10);
});

test('ranges', () => {
  assert.deepStrictEqual(cellsOf('A1', 'B2'), ['A1', 'B1', 'A2', 'B2']);
  assert.deepStrictEqual(cellsOf('AA2', 'Z1'), ['Z1', 'AA1', 'Z2', 'AA2']);
});
