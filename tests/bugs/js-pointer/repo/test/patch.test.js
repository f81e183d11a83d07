'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { PatchError, apply, diff } = require('../src/patch');

const DOC = { name: 'tea', tags: ['hot', 'cheap'], size: { cup: 2, pot: 8 } };

const refused = (...operations) =>
  assert.throws(() => apply(DOC, operations), PatchError);

test('add', () => {
  assert.deepStrictEqual(
    apply(DOC, [{ op: 'add', path: '/tags/1', value: 'new' }]).tags,
    ['hot', 'new', 'cheap']);
  assert.deepStrictEqual(
    apply(DOC, [{ op: 'add', path: '/tags/-', value: 'new' }]).tags,
    ['hot', 'cheap', 'new']);
});

test('remove', () => {
  assert.deepStrictEqual(apply(DOC, [{ op: 'remove', path: '/size/cup' }]).size,
    { pot: 8 });
  refused({ op: 'remove', path: '/size/can' });
  refused({ op: 'remove', path: '/tags/-' });
});

test('replace', () => {
  assert.deepStrictEqual(
    apply(DOC, [{ op: 'replace', path: '/tags/0', value: 'cold' }]).tags,
    ['cold', 'cheap']);
  refused({ op: 'replace', path: '/x', value: 1 });
});

test('move and copy', () => {
  const done = apply(DOC, [
    { op: 'move', from: '/name', path: '/size/name' },
    { op: 'copy', from: '/tags/1', path: '/tags/0' },
  ]);
  assert.deepStrictEqual(done,
    { tags: ['cheap', 'hot', 'cheap'], size: { cup: 2, pot: 8, name: 'tea' } });
  refused({ op: 'move', from: '/size', path: '/size/inner' });
});

test('test', () => {
  assert.ok(apply(DOC, [{ op: 'test', path: '/size', value: { pot: 8, cup: 2 } }]));
  refused({ op: 'test', path: '/name', value: 'coffee' });
});

test('all or nothing', () => {
  const before = structuredClone(DOC);
  refused({ op: 'remove', path: '/name' }, { op: 'nonsense' });
  assert.deepStrictEqual(DOC, before);
});

test('differences', () => {
  assert.deepStrictEqual(diff(DOC, { name: 'tea', tags: [], size: { pot: 9 }, n: 1 }), [
    { op: 'replace', path: '/tags', value: [] },
    { op: 'remove', path: '/size/cup' },
    { op: 'replace', path: '/size/pot', value: 9 },
    { op: 'add', path: '/n', value: 1 },
  ]);
  assert.deepStrictEqual(diff(DOC, DOC), []);
});

test('differences of strange names', () => {
  const a = { 'a/b': 1, '~home': { x: 1 } };
  const b = { 'a/b': 2, '~home': { x: 1, y: 2 } };
  assert.deepStrictEqual(apply(a, diff(a, b)), b);
});
