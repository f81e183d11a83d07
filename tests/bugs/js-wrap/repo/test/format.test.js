'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { format } = require('../src');
const { stretch } = require('../src/justify');
const { take, width } = require('../src/width');

test('empty text', () => {
  assert.strictEqual(format(' \n\n'), '');
});

test('short text stays on one line', () => {
  assert.strictEqual(format('one\ntwo'), 'one two');
});

test('breaks before the word that does not fit', () => {
  assert.strictEqual(format('aaaa bbbb cccc', { columns: 11 }),
    'aaaa bbbb\ncccc');
});

test('a line may be filled to the last column', () => {
  assert.strictEqual(format('aaaa bbbb cccc', { columns: 9 }),
    'aaaa bbbb\ncccc');
});

test('paragraphs are kept apart', () => {
  assert.strictEqual(format('a\n\n\nb\nc'), 'a\n\nb c');
});

test('literal blocks are not refilled', () => {
  assert.strictEqual(format('    x  y\n    z', { columns: 5 }),
    '    x  y\n    z');
});

test('indent', () => {
  assert.strictEqual(format('aaa bbb', { columns: 6, indent: 2 }),
    '  aaa\n  bbb');
});

test('indent too large', () => {
  assert.throws(() => format('a', { columns: 4, indent: 4 }), RangeError);
});

test('long words are broken', () => {
  assert.strictEqual(format('abcdefg', { columns: 3 }), 'abc\ndef\ng');
});

test('width of wide characters', () => {
  assert.strictEqual(width('a\u4e2db'), 4);
  assert.strictEqual(take('\u4e2d\u6587x', 3), '\u4e2d');
});

test('wide characters fill two columns each', () => {
  assert.strictEqual(
    format('\u4e2d\u6587 \u4e2d\u6587 \u4e2d', { columns: 9 }),
    '\u4e2d\u6587 \u4e2d\u6587\n\u4e2d');
});

test('stretch hands out the odd spaces from the left', () => {
  assert.strictEqual(stretch('a b c d', 9), 'a  b  c d');
  assert.strictEqual(stretch('a b', 6), 'a    b');
  assert.strictEqual(stretch('abc', 6), 'abc');
});

test('justified text leaves the last line alone', () => {
  assert.strictEqual(format('a b c dddd e', { columns: 8, align: 'both' }),
    'a   b  c\ndddd e');
});
