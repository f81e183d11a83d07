'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { pick, sort } = require('../src');

const RELEASES = ['0.2.3', '0.2.9', '0.3.0', '1.0.0', '1.2.0', '1.10.1', '2.0.0'];
const WITH_PRE = ['1.0.0', '1.1.0-rc.1', '1.1.0-rc.2', '2.0.0-alpha'];

test('exact version', () => {
  assert.strictEqual(pick(RELEASES, '1.2.0'), '1.2.0');
  assert.strictEqual(pick(RELEASES, '=v1.0.0'), '1.0.0');
});

test('nothing fits', () => {
  assert.strictEqual(pick(RELEASES, '>2.0.0'), null);
});

test('any version', () => {
  assert.strictEqual(pick(RELEASES, '*'), '2.0.0');
});

test('caret keeps the major version', () => {
  assert.strictEqual(pick(RELEASES, '^1.0.0'), '1.10.1');
});

test('caret of zero versions is narrow', () => {
  assert.strictEqual(pick(RELEASES, '^0.2.3'), '0.2.9');
  assert.strictEqual(pick(['0.0.3', '0.0.4'], '^0.0.3'), '0.0.3');
});

test('tilde keeps the minor version', () => {
  assert.strictEqual(pick(['1.2.3', '1.2.8', '1.3.0'], '~1.2.3'), '1.2.8');
});

test('comparators are joined by and', () => {
  assert.strictEqual(pick(RELEASES, '>=0.3.0 <1.2.0'), '1.0.0');
  assert.strictEqual(pick(RELEASES, '<=1.2.0'), '1.2.0');
});

test('alternatives', () => {
  assert.strictEqual(pick(RELEASES, '^0.2.0 || 1.0.0'), '1.0.0');
});

test('pre-releases are left out', () => {
  assert.strictEqual(pick(WITH_PRE, '*'), '1.0.0');
});

test('a pre-release of the version named in the range', () => {
  assert.strictEqual(pick(WITH_PRE, '>=1.1.0-rc.1'), '1.1.0-rc.2');
  assert.strictEqual(pick(WITH_PRE, '^1.1.0-rc.1'), '1.1.0-rc.2');
});

test('pre-releases on request', () => {
  const options = { includePrerelease: true };
  assert.strictEqual(pick(WITH_PRE, '*', options), '2.0.0-alpha');
  assert.strictEqual(pick(WITH_PRE, '^1.0.0', options), '1.1.0-rc.2');
});

test('sort by precedence', () => {
  const ordered = ['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta',
    '1.0.0-beta.2', '1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1'];
  assert.deepStrictEqual(sort([...ordered].reverse()), ordered);
});

test('build metadata is ignored', () => {
  assert.strictEqual(pick(['1.0.0+b7'], '1.0.0'), '1.0.0');
});

test('bad versions are refused', () => {
  assert.throws(() => pick(['1.0'], '*'), TypeError);
  assert.throws(() => pick(['1.0.0'], '^x'), TypeError);
});
