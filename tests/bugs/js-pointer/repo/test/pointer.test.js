'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { PointerError, format, get, parse } = require('../src/pointer');

const DOC = { list: [10, { deep: true }], '': 'empty', 'a/b': 1, 'm~n': 2, '~1': 3 };

test('parts', () => {
  assert.deepStrictEqual(parse(''), []);
  assert.deepStrictEqual(parse('/'), ['']);
  assert.deepStrictEqual(parse('/a/0'), ['a', '0']);
});

test('format', () => {
  assert.strictEqual(format(['a/b', 0, 'm~n', '~1']), '/a~1b/0/m~0n/~01');
  assert.strictEqual(format([]), '');
});

test('members and items', () => {
  assert.strictEqual(get(DOC, ''), DOC);
  assert.strictEqual(get(DOC, '/list/0'), 10);
  assert.strictEqual(get(DOC, '/list/1/deep'), true);
  assert.strictEqual(get(DOC, '/'), 'empty');
});

test('slash in a name', () => {
  assert.strictEqual(get(DOC, '/a~1b'), 1);
});

test('tilde in a name', () => {
  assert.strictEqual(get(DOC, '/m~0n'), 2);
  assert.strictEqual(get(DOC, '/~01'), 3);
});

test('nothing there', () => {
  for (const pointer of ['/x', '/list/2', '/list/-', '/list/01', '/list/0/x',
    '/toString']) {
    assert.throws(() => get(DOC, pointer), PointerError, pointer);
  }
});

test('bad pointers', () => {
  for (const pointer of ['a', '/a~', '/a~2']) {
    assert.throws(() => parse(pointer), PointerError, pointer);
  }
});
