'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Reader, Writer } = require('../src/map');

function written() {
  const map = new Writer('out.js');
  map.add(0, 0, { source: 'a.ts', line: 0, column: 0 });
  map.add(0, 9, { source: 'a.ts', line: 1, column: 4, name: 'total' });
  map.add(0, 15);
  map.add(2, 2, { source: 'b.ts', line: 7, column: 2 });
  return map;
}

test('written', () => {
  assert.deepStrictEqual(JSON.parse(JSON.stringify(written())), {
    version: 3, file: 'out.js', sources: ['a.ts', 'b.ts'], names: ['total'],
    mappings: 'AAAA,SACIA,M;;ECMF',
  });
});

test('found', () => {
  const map = new Reader(written().toJSON());
  assert.deepStrictEqual(map.find(0, 3), { source: 'a.ts', line: 0, column: 0 });
  assert.deepStrictEqual(map.find(0, 9),
    { source: 'a.ts', line: 1, column: 4, name: 'total' });
  assert.deepStrictEqual(map.find(2, 80), { source: 'b.ts', line: 7, column: 2 });
});

test('not found', () => {
  const map = new Reader(written().toJSON());
  assert.strictEqual(map.find(0, 15), null);
  assert.strictEqual(map.find(1, 0), null);
  assert.strictEqual(map.find(2, 1), null);
  assert.strictEqual(map.find(9, 0), null);
});

test('marks are put in order', () => {
  const map = new Writer('out.js');
  map.add(0, 8, { source: 'a', line: 0, column: 8 });
  map.add(0, 2, { source: 'a', line: 0, column: 2 });
  assert.strictEqual(map.toJSON().mappings, 'EAAE,MAAM');
});

test('far places', () => {
  const map = new Writer('out.js');
  map.add(0, 1000, { source: 'a', line: 5000, column: 70 });
  map.add(0, 2000, { source: 'a', line: 12, column: 0 });
  const found = new Reader(map.toJSON());
  assert.deepStrictEqual(found.find(0, 1999), { source: 'a', line: 5000, column: 70 });
  assert.deepStrictEqual(found.find(0, 2000), { source: 'a', line: 12, column: 0 });
});

test('other versions', () => {
  assert.throws(() => new Reader({ version: 2 }), TypeError);
});

test('wrong number of numbers', () => {
  const map = { version: 3, sources: [], names: [], mappings: 'AA' };
  assert.throws(() => new Reader(map), SyntaxError);
});
