import test from 'node:test';
import assert from 'node:assert';
import { Sheet } from '../src/sheet.js';

const DATA = { A1: 4, A2: 8, A3: 'tea', A4: 6, B1: '=A1 + 1' };

const calc = (formula) => new Sheet({ ...DATA, X1: formula }).get('X1');

test('sum and count', () => {
  assert.strictEqual(calc('=SUM(A1:B4, 10)'), 33);
  assert.strictEqual(calc('=COUNT(A1:A9)'), 3);
  assert.strictEqual(calc('=SUM(C1:C9)'), 0);
});

test('average', () => {
  assert.strictEqual(calc('=AVERAGE(A1:A4)'), 6);
  assert.strictEqual(calc('=AVERAGE(A1)'), 4);
});

test('average of nothing', () => {
  assert.strictEqual(calc('=AVERAGE(C1:C9)'), '#DIV/0!');
  assert.strictEqual(calc('=1 + AVERAGE(A3:A3)'), '#DIV/0!');
});

test('median', () => {
  assert.strictEqual(calc('=MEDIAN(A1:A4)'), 6);
  assert.strictEqual(calc('=MEDIAN(A1:B4)'), 5.5);
  assert.strictEqual(calc('=MEDIAN(C1:C2)'), '#NUM!');
});

test('deviation', () => {
  assert.strictEqual(calc('=STDEV(A1:A4)'), 2);
  assert.strictEqual(calc('=STDEV(A1)'), '#DIV/0!');
});

test('least and most', () => {
  assert.strictEqual(calc('=MIN(A1:A4)'), 4);
  assert.strictEqual(calc('=MAX(A1:B4)'), 8);
  assert.strictEqual(calc('=MAX(C1:C4)'), 0);
});

test('round', () => {
  assert.strictEqual(calc('=ROUND(A1 / 3, 2)'), 1.33);
  assert.strictEqual(calc('=ROUND(2.5)'), 3);
});
