import test from 'node:test';
import assert from 'node:assert';
import { plural } from '../src/plural.js';

function check(language, expected) {
  for (const [form, numbers] of Object.entries(expected)) {
    for (const n of numbers) {
      assert.strictEqual(plural(language, n), form, `${language} ${n}`);
    }
  }
}

test('English', () => {
  check('en', { one: [1, -1], other: [0, 2, 1.5, 11] });
});

test('French', () => {
  check('fr-CA', { one: [0, 1, 1.9], other: [2, 100] });
});

test('Czech', () => {
  check('cs', { one: [1], few: [2, 4], many: [1.5], other: [0, 5, 22] });
});

test('Polish', () => {
  check('pl', { one: [1], few: [2, 3, 4, 22, 104], many: [0, 5, 11, 21] });
});

test('Polish, above ten', () => {
  check('pl', { many: [12, 13, 14, 112, 214], other: [1.5] });
});

test('Russian', () => {
  check('ru', { one: [1, 21, 101], few: [2, 24], many: [0, 11, 12, 111] });
});

test('Lithuanian', () => {
  check('lt', { one: [1, 31], few: [2, 9, 22], other: [0, 11, 19, 20] });
});

test('Japanese', () => {
  check('ja', { other: [0, 1, 2] });
});

test('unknown language', () => {
  check('xx', { one: [1], other: [2] });
});
