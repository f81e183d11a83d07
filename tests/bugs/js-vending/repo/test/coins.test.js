import test from 'node:test';
import assert from 'node:assert';
import { change, count, put, take, total } from '../src/coins.js';

const box = (coins) =>
  new Map(Object.entries(coins).map(([coin, n]) => [Number(coin), n]));
const given = (coins, amount) => {
  const found = change(box(coins), amount);
  return found && Object.fromEntries(found);
};

test('sums', () => {
  assert.strictEqual(total(box({ 5: 3, 50: 2 })), 115);
  assert.strictEqual(count(box({ 5: 3, 50: 2 })), 5);
  assert.strictEqual(total(new Map()), 0);
});

test('put and take', () => {
  const coins = box({ 5: 1 });
  put(coins, box({ 5: 2, 10: 1 }));
  take(coins, box({ 5: 3 }));
  assert.deepStrictEqual(coins, box({ 5: 0, 10: 1 }));
  assert.throws(() => take(coins, box({ 20: 1 })), RangeError);
});

test('nothing to give', () => {
  assert.deepStrictEqual(given({ 5: 1 }, 0), {});
});

test('big coins first', () => {
  assert.deepStrictEqual(given({ 5: 9, 10: 9, 20: 9, 50: 9 }, 85),
    { 50: 1, 20: 1, 10: 1, 5: 1 });
});

test('small coins when the big ones are gone', () => {
  assert.deepStrictEqual(given({ 5: 9, 10: 1, 20: 0 }, 30), { 10: 1, 5: 4 });
});

test('a big coin can be in the way', () => {
  assert.deepStrictEqual(given({ 20: 3, 50: 1 }, 60), { 20: 3 });
  assert.deepStrictEqual(given({ 5: 1, 20: 3, 50: 1 }, 65), { 20: 3, 5: 1 });
});

test('fewest coins', () => {
  assert.deepStrictEqual(given({ 1: 9, 10: 9, 25: 9 }, 30), { 10: 3 });
  assert.deepStrictEqual(given({ 1: 9, 10: 9, 25: 9 }, 31), { 10: 3, 1: 1 });
});

test('it can not be done', () => {
  assert.strictEqual(given({ 20: 5 }, 30), null);
  assert.strictEqual(given({ 5: 3, 10: 1 }, 30), null);
});
