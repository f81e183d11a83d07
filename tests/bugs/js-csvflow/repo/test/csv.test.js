'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { CsvError, Parser, format, parse, records } = require('../src');

const list = async (pieces, options) => {
  const found = [];
  for await (const record of records(pieces, options)) found.push(record);
  return found;
};

test('rows', () => {
  assert.deepStrictEqual(parse('a,b\n1,2\n'), [['a', 'b'], ['1', '2']]);
});

test('the last line needs no end', () => {
  assert.deepStrictEqual(parse('a,b\n1,'), [['a', 'b'], ['1', '']]);
});

test('ends of lines', () => {
  assert.deepStrictEqual(parse('a\nb\r\nc\rd\r\n'), [['a'], ['b'], ['c'], ['d']]);
  assert.deepStrictEqual(parse('a\r"b"\r'), [['a'], ['b']]);
});

test('empty lines', () => {
  assert.deepStrictEqual(parse('a\n\n\nb\n'), [['a'], [''], [''], ['b']]);
  assert.deepStrictEqual(parse('\r\r"b"\r'), [[''], [''], ['b']]);
});

test('quotes', () => {
  assert.deepStrictEqual(parse('"a,b","c ""d""",e"f\n'),
    [['a,b', 'c "d"', 'e"f']]);
});

test('ends of lines in quotes', () => {
  assert.deepStrictEqual(parse('"a\nb","c\r\nd"\n'), [['a\nb', 'c\r\nd']]);
});

test('other separators', () => {
  assert.deepStrictEqual(parse('a;b,c\n', { separator: ';' }), [['a', 'b,c']]);
});

test('text behind a quote', () => {
  assert.throws(() => parse('a\n"b"c\n'), { name: 'Error', line: 2 });
});

test('a quote that is not closed', () => {
  assert.throws(() => parse('a\n"b\n'), CsvError);
});

test('lines are counted whatever ends them', () => {
  assert.throws(() => parse('a\r\nb\r\n"c"d\r\n'), { line: 3 });
  assert.throws(() => parse('a\rb\n"c"d\r\n'), { line: 3 });
  assert.throws(() => parse('"a\nb"\n\n"c"d'), { line: 4 });
});

test('pieces', () => {
  const rows = [];
  const parser = new Parser((row) => rows.push(row));
  for (const piece of ['a,"', 'b""', 'c"', '\n1', '2,3']) parser.write(piece);
  parser.end();
  assert.deepStrictEqual(rows, [['a', 'b"c'], ['12', '3']]);
});

test('records', async () => {
  assert.deepStrictEqual(await list(['id, name\n1,A', 'nn\n2\n']),
    [{ id: '1', name: 'Ann' }, { id: '2', name: '' }]);
});

test('records of pieces cut anywhere', async () => {
  assert.deepStrictEqual(await list(['id,name\r', '\n1,"A', '"\r', '\n', '\n']),
    [{ id: '1', name: 'A' }]);
});

test('too many fields', async () => {
  await assert.rejects(list(['a\n\n1\n1,2\n3\n']), { line: 4 });
});

test('format', () => {
  assert.strictEqual(format([['a', 1, null], ['b,c', '"', 'd\ne']]),
    'a,1,\n"b,c","""","d\ne"\n');
});

test('format can be read again', () => {
  const rows = [['a\r\nb', ' c '], ['', 'd"']];
  assert.deepStrictEqual(parse(format(rows, { newline: '\r\n' })), rows);
});
