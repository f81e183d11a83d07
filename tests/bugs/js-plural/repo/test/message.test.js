import test from 'node:test';
import assert from 'node:assert';
import { Messages } from '../src/message.js';
import { MessageError, parse } from '../src/parse.js';

const say = (text, values, language = 'en') =>
  new Messages(language, { text }).say('text', values);

test('plain text', () => {
  assert.strictEqual(say('Hello.'), 'Hello.');
});

test('values', () => {
  assert.strictEqual(say('{ a } and {b}', { a: 1, b: 'two' }), '1 and two');
});

test('a value that is missing is seen', () => {
  assert.strictEqual(say('Dear {name}', {}), 'Dear {name}');
});

test('unknown key', () => {
  assert.strictEqual(new Messages('en', {}).say('no.such'), 'no.such');
});

test('plural', () => {
  const text = '{n, plural, =0 {none} one {# letter} other {# letters}}';
  assert.deepStrictEqual([0, 1, 2].map((n) => say(text, { n })),
    ['none', '1 letter', '2 letters']);
});

test('select in plural', () => {
  const text = '{n, plural, one {{who, select, her {she has #} other {they have #}}} other {#}}';
  assert.strictEqual(say(text, { n: 1, who: 'her' }), 'she has 1');
  assert.strictEqual(say(text, { n: 1, who: 'x' }), 'they have 1');
});

test('quotes', () => {
  assert.strictEqual(say("it''s '{n'} isn't", {}), "it's {n} isn't");
});

test('number sign outside', () => {
  assert.strictEqual(say('#{n}', { n: 4 }), '#4');
});

test('mistakes', () => {
  for (const text of ['{', '{a', 'a}', '{n, plural, one {x}}', '{n, date, x}',
    '{n, plural, other {x}', '{}']) {
    assert.throws(() => parse(text), MessageError, text);
  }
});
