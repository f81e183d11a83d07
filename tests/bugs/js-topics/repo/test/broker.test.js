'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Broker } = require('../src/broker');

/** A broker with two clients, and what they got. */
function pair() {
  const got = { ann: [], bob: [] };
  const broker = new Broker();
  for (const name of Object.keys(got)) {
    broker.connect(name, (message) => got[name].push(message));
  }
  return { broker, got };
}

const payloads = (messages) => messages.map((m) => m.payload);

test('only those who asked', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', 'a/b');
  assert.strictEqual(broker.publish('a/b', 'x'), 1);
  assert.deepStrictEqual(payloads(got.ann), ['x']);
  assert.deepStrictEqual(got.bob, []);
});

test('once, however many filters match', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', 'a/+', 1);
  broker.subscribe('ann', 'a/#', 2);
  broker.publish('a/b', 'x', { quality: 2 });
  broker.publish('a/b', 'y', { quality: 1 });
  assert.deepStrictEqual(got.ann.map((m) => m.quality), [2, 1]);
});

test('retained', () => {
  const { broker, got } = pair();
  broker.publish('a/b', 'old', { retain: true });
  broker.publish('a/b', 'new', { retain: true, quality: 1 });
  broker.publish('a/c', 'x');
  broker.subscribe('ann', 'a/+', 2);
  assert.deepStrictEqual(got.ann,
    [{ topic: 'a/b', payload: 'new', quality: 1, retained: true }]);
});

test('retained and taken back', () => {
  const { broker, got } = pair();
  broker.publish('a/b', 'old', { retain: true });
  broker.publish('a/b', '', { retain: true });
  broker.subscribe('ann', '#');
  assert.deepStrictEqual(got.ann, []);
});

test('unsubscribe', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', 'a');
  assert.strictEqual(broker.unsubscribe('ann', 'a'), true);
  assert.strictEqual(broker.unsubscribe('ann', 'a'), false);
  assert.strictEqual(broker.publish('a', 'x'), 0);
  assert.deepStrictEqual(got.ann, []);
});

test('last will', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', 'gone/+');
  broker.will('bob', 'gone/bob', 'help');
  broker.disconnect('bob', false);
  assert.deepStrictEqual(payloads(got.ann), ['help']);
});

test('no will after a polite farewell', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', 'gone/+');
  broker.will('bob', 'gone/bob', 'help');
  broker.disconnect('bob');
  assert.deepStrictEqual(got.ann, []);
});

test('news of the broker for those who ask', () => {
  const { broker, got } = pair();
  broker.subscribe('ann', '$broker/#');
  broker.disconnect('bob');
  assert.deepStrictEqual(payloads(got.ann), ['bob went']);
});

test('names are taken once', () => {
  const { broker } = pair();
  assert.throws(() => broker.connect('ann', () => {}), /already/);
  assert.throws(() => broker.subscribe('eve', 'a'), /nobody/);
});
