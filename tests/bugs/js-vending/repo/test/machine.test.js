import test from 'node:test';
import assert from 'node:assert';
import { Machine, MachineError } from '../src/machine.js';

function machine(coins) {
  return new Machine({
    A1: { name: 'nuts', price: 140, count: 2 },
    B1: { name: 'water', price: 100, count: 1 },
  }, coins);
}

function pay(target, ...coins) {
  for (const coin of coins) target.insert(coin);
  return target;
}

test('the exact amount', () => {
  const one = pay(machine(), 100);
  assert.strictEqual(one.choose('B1').size, 0);
  assert.deepStrictEqual(one.report(),
    { cash: 100, sold: [['water', 1]], empty: ['B1'] });
});

test('change', () => {
  const one = pay(machine({ 10: 5, 50: 1 }), 200);
  assert.deepStrictEqual(one.choose('A1'), new Map([[50, 1], [10, 1]]));
  assert.strictEqual(one.credit, 0);
  assert.strictEqual(one.report().cash, 100 + 200 - 60);
});

test('change out of what was put in', () => {
  const one = pay(machine(), 100, 20, 20, 20, 20, 20);
  assert.deepStrictEqual(one.choose('A1'), new Map([[20, 3]]));
});

test('no change', () => {
  const one = pay(machine({ 50: 1 }), 200);
  assert.throws(() => one.choose('A1'), /no change/);
  assert.strictEqual(one.credit, 200);
  assert.strictEqual(one.report().cash, 50);
});

test('too little', () => {
  assert.throws(() => pay(machine(), 50).choose('B1'), /50 missing/);
});

test('strange coins', () => {
  const one = machine();
  assert.strictEqual(one.insert(25), false);
  assert.strictEqual(one.credit, 0);
});

test('cancel', () => {
  const one = pay(machine(), 50, 50, 10);
  assert.deepStrictEqual(one.cancel(), new Map([[50, 2], [10, 1]]));
  assert.strictEqual(one.credit, 0);
});

test('slots', () => {
  const one = pay(machine(), 100, 100);
  assert.throws(() => one.choose('Z9'), MachineError);
  one.choose('B1');
  assert.throws(() => one.choose('B1'), /sold out/);
});
