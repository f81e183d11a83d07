'use strict';

const { describe, it } = require('node:test');
const assert = require('node:assert');
const { QueryError, change, format, parse } = require('../src');

describe('parse', () => {
  it('takes plain values', () => {
    assert.deepStrictEqual(parse('?a=1&b=x%20y&c'), { a: '1', b: 'x y', c: '' });
  });

  it('makes a list of what comes twice', () => {
    assert.deepStrictEqual(parse('a=1&a=2&a=3'), { a: ['1', '2', '3'] });
  });

  it('knows lists and objects', () => {
    assert.deepStrictEqual(parse('d[]=3&d[]=4&b[c][x]=2&b[e]=5'),
      { d: ['3', '4'], b: { c: { x: '2' }, e: '5' } });
  });

  it('takes a plus for a blank', () => {
    assert.deepStrictEqual(parse('q=a+b%2Bc'), { q: 'a b+c' });
  });

  it('bears what is badly escaped', () => {
    assert.deepStrictEqual(parse('a=100%&&=x'), { a: '100%', '': 'x' });
  });

  it('keeps values with a sign of equality', () => {
    assert.deepStrictEqual(parse('a=b=c'), { a: 'b=c' });
  });

  it('refuses what can do harm', () => {
    assert.throws(() => parse('__proto__[x]=1'), QueryError);
    assert.throws(() => parse('a=1&a[b]=2'), QueryError);
    assert.throws(() => parse('a=1&'.repeat(101)), QueryError);
  });
});

describe('format', () => {
  it('writes plain values', () => {
    assert.strictEqual(format({ a: 1, b: 'x y', c: '' }), 'a=1&b=x+y&c=');
  });

  it('writes lists and objects', () => {
    assert.strictEqual(format({ d: [3, 4], b: { c: true } }),
      'd[]=3&d[]=4&b[c]=true');
  });

  it('leaves out what is undefined', () => {
    assert.strictEqual(format({ a: undefined, b: null }), 'b=');
  });

  it('writes dates', () => {
    assert.strictEqual(format({ at: new Date(0) }),
      'at=1970-01-01T00%3A00%3A00.000Z');
  });

  it('sorts', () => {
    assert.strictEqual(format({ b: 1, a: 2 }, { sort: true, prefix: '?' }),
      '?a=2&b=1');
  });

  it('escapes keys', () => {
    assert.strictEqual(format({ 'a&b': 1, 'ü x': 2 }), 'a%26b=1&%C3%BC+x=2');
  });

  it('escapes what has a meaning in values', () => {
    assert.strictEqual(format({ q: 'a&b=c', r: '#1' }), 'q=a%26b%3Dc&r=%231');
  });

  it('can be read again', () => {
    const values = { name: 'R&D + more', link: 'http://x.org/?a=1', tags: ['a;b'] };
    assert.deepStrictEqual(parse(format(values)), values);
  });
});

describe('change', () => {
  it('sets and takes away', () => {
    assert.strictEqual(change('/list?page=2&q=tea#top', { page: 3, q: null }),
      '/list?page=3#top');
  });

  it('can leave nothing', () => {
    assert.strictEqual(change('/list?page=2', { page: null }), '/list');
  });
});
