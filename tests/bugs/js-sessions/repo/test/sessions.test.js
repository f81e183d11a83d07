'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { parseLine, parseLog } = require('../src/line');
const { report, visits } = require('../src/report');

const paths = (log, options) => visits(log, options).map((v) => v.pages.join(' '));

test('a line', () => {
  assert.deepStrictEqual(parseLine('9:05:30 ann /cart?id=3 404'),
    { at: 32730, user: 'ann', page: '/cart', status: 404 });
  assert.strictEqual(parseLine('0:01 ann /').status, 200);
});

test('bad lines', () => {
  assert.throws(() => parseLine('9:5 ann /'), SyntaxError);
  assert.throws(() => parseLine('9:05 ann'), SyntaxError);
});

test('a log is put in order', () => {
  const events = parseLog('# day 1\n9:10 ann /b\n\n9:00 bob /a\n');
  assert.deepStrictEqual(events.map((e) => e.page), ['/a', '/b']);
});

test('one visit', () => {
  assert.deepStrictEqual(visits('9:00 ann /\n9:10 ann /shop\n9:20 ann /cart 500'), [{
    user: 'ann', from: 32400, to: 33600, entry: '/',
    pages: ['/', '/shop', '/cart'], errors: 1,
  }]);
});

test('users are kept apart', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:01 bob /b\n9:02 ann /c'),
    ['/a /c', '/b']);
});

test('a long pause begins another visit', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:31 ann /b'), ['/a', '/b']);
});

test('a pause that is just short enough', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:30 ann /b'), ['/a /b']);
});

test('the pause counts from the last event', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:20 ann /b\n9:40 ann /c'),
    ['/a /b /c']);
});

test('a reload keeps a visit alive', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:25 ann /a\n9:50 ann /b'),
    ['/a /b']);
});

test('a reload is no other page', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:01 ann /a\n9:02 ann /b\n9:03 ann /a'),
    ['/a /b /a']);
});

test('own limit', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:02 ann /b', { idle: 60 }),
    ['/a', '/b']);
});

test('logout ends a visit', () => {
  assert.deepStrictEqual(paths('9:00 ann /a\n9:01 ann /logout\n9:02 ann /a'),
    ['/a /logout', '/a']);
});

test('report', () => {
  const log = '9:00 ann /\n9:04 ann /shop\n9:01 bob /shop\n10:00 ann /';
  assert.deepStrictEqual(report(log), {
    visits: 3, users: 2, bounced: 67, seconds: 80,
    entries: [['/', 2], ['/shop', 1]],
  });
});

test('length of a visit with reloads', () => {
  assert.strictEqual(report('9:00 ann /\n9:05 ann /\n9:10 ann /').seconds, 600);
});

test('report of nothing', () => {
  assert.deepStrictEqual(report(''),
    { visits: 0, users: 0, bounced: 0, seconds: 0, entries: [] });
});
