'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { checkFilter, checkTopic, matches } = require('../src/filter');

function check(filter, good, bad) {
  for (const topic of good) assert.ok(matches(filter, topic), topic);
  for (const topic of bad) assert.ok(!matches(filter, topic), topic);
}

test('exact', () => {
  check('a/b', ['a/b'], ['a', 'a/b/c', 'a/B', '/a/b']);
});

test('one level', () => {
  check('a/+/c', ['a/b/c', 'a//c'], ['a/c', 'a/b/b/c']);
  check('+', ['a'], ['a/b', '/a']);
});

test('all that follow', () => {
  check('a/#', ['a', 'a/b', 'a/b/c'], ['b', 'ab']);
  check('#', ['a', 'a/b', '/'], []);
});

test('own topics of the broker', () => {
  check('$broker/+', ['$broker/clients'], ['broker/clients']);
  check('#', [], ['$broker/clients']);
  check('+/clients', ['x/clients'], ['$broker/clients']);
});

test('filters', () => {
  assert.deepStrictEqual(checkFilter('a/+/#'), ['a', '+', '#']);
  for (const bad of ['', 'a/#/b', 'a+', 'a/b#']) {
    assert.throws(() => checkFilter(bad), TypeError);
  }
});

test('topics', () => {
  assert.deepStrictEqual(checkTopic('/a'), ['', 'a']);
  for (const bad of ['', 'a/+', '#', 'a\0']) {
    assert.throws(() => checkTopic(bad), TypeError);
  }
});
