'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Heap, Roads, route } = require('../src');

function county() {
  return new Roads()
    .add('A1', 'Alm', 'Bree', { minutes: 30 })
    .add('A2', 'Bree', 'Cole', { minutes: 25, height: 3.8 })
    .add('B7', 'Bree', 'Dun', { minutes: 20 })
    .add('B8', 'Dun', 'Cole', { minutes: 20, weight: 18 })
    .add('C3', 'Dun', 'Esk', { minutes: 35 })
    .add('C4', 'Esk', 'Cole', { minutes: 30 })
    .add('R1', 'Alm', 'Fey', { minutes: 5, oneway: true })
    .add('R2', 'Fey', 'Gale', { minutes: 5, oneway: true });
}

test('heap sorts', () => {
  const heap = new Heap();
  for (const n of [5, 3, 8, 1, 9, 2, 7, 3]) heap.push(n, `v${n}`);
  const keys = [];
  while (heap.size > 0) keys.push(heap.pop().key);
  assert.deepStrictEqual(keys, [1, 2, 3, 3, 5, 7, 8, 9]);
});

test('heap keeps values with their keys', () => {
  const heap = new Heap();
  heap.push(2, 'b');
  heap.push(1, 'a');
  assert.deepStrictEqual(heap.pop(), { key: 1, value: 'a' });
  assert.strictEqual(heap.size, 1);
});

test('a road takes time', () => {
  assert.throws(() => new Roads().add('x', 'a', 'b', { minutes: 0 }),
    RangeError);
});

test('start is goal', () => {
  assert.deepStrictEqual(route(county(), 'Alm', 'Alm'),
    { minutes: 0, places: ['Alm'], roads: [] });
});

test('a car takes the quickest way', () => {
  assert.deepStrictEqual(route(county(), 'Alm', 'Cole'),
    { minutes: 55, places: ['Alm', 'Bree', 'Cole'], roads: ['A1', 'A2'] });
});

test('and back', () => {
  assert.deepStrictEqual(route(county(), 'Cole', 'Alm').roads, ['A2', 'A1']);
});

test('what is closed is not taken', () => {
  const map = county();
  map.close('A2');
  assert.deepStrictEqual(route(map, 'Alm', 'Cole').roads, ['A1', 'B7', 'B8']);
});

test('one way only', () => {
  assert.strictEqual(route(county(), 'Alm', 'Gale').minutes, 10);
  assert.strictEqual(route(county(), 'Gale', 'Alm'), null);
});

test('no way', () => {
  assert.strictEqual(route(county(), 'Alm', 'Zand'), null);
  const map = county();
  map.close('A1');
  assert.strictEqual(route(map, 'Alm', 'Cole'), null);
});

test('heavy vehicles go round weak bridges', () => {
  const map = county();
  map.close('A2');
  assert.deepStrictEqual(route(map, 'Bree', 'Cole', { weight: 20 }).places,
    ['Bree', 'Dun', 'Esk', 'Cole']);
});

test('high vehicles go round low bridges', () => {
  assert.deepStrictEqual(route(county(), 'Alm', 'Cole', { height: 4 }).roads,
    ['A1', 'B7', 'B8']);
});

test('high and heavy', () => {
  const lorry = { weight: 38, height: 4 };
  assert.strictEqual(route(county(), 'Alm', 'Cole', lorry).minutes, 115);
});

test('as much as a road bears is not too much', () => {
  const lorry = { weight: 18, height: 3.8 };
  assert.deepStrictEqual(route(county(), 'Bree', 'Cole', lorry).roads, ['A2']);
});

test('pause', () => {
  const driver = { rest: 50, pause: 15 };
  assert.strictEqual(route(county(), 'Alm', 'Cole', driver).minutes, 70);
  assert.strictEqual(route(county(), 'Alm', 'Dun', driver).minutes, 50);
});
