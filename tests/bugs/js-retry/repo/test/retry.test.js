'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Breaker, guarded, retry } = require('../src');

/** Task that fails so many times, and the waits it caused. */
function failing(times) {
  const run = { calls: 0, waits: [] };
  run.sleep = async (ms) => { run.waits.push(ms); };
  run.task = async () => {
    run.calls += 1;
    if (run.calls <= times) throw new Error(`failure ${run.calls}`);
    return 'done';
  };
  return run;
}

test('success needs no retry', async () => {
  const run = failing(0);
  assert.strictEqual(await retry(run.task, { sleep: run.sleep }), 'done');
  assert.deepStrictEqual(run.waits, []);
});

test('one failure', async () => {
  const run = failing(1);
  assert.strictEqual(await retry(run.task, { sleep: run.sleep }), 'done');
  assert.deepStrictEqual(run.waits, [100]);
});

test('waits grow by default', async () => {
  const run = failing(9);
  await assert.rejects(retry(run.task, { sleep: run.sleep }), /failure 5/);
  assert.deepStrictEqual(run.waits, [100, 200, 400, 800]);
});

test('own factor and base', async () => {
  const run = failing(3);
  await retry(run.task, { sleep: run.sleep, base: 10, factor: 3 });
  assert.deepStrictEqual(run.waits, [10, 30, 90]);
});

test('longest wait', async () => {
  const run = failing(3);
  await retry(run.task, { sleep: run.sleep, base: 10, factor: 4, maxWait: 25 });
  assert.deepStrictEqual(run.waits, [10, 25, 25]);
});

test('budget', async () => {
  const run = failing(9);
  const options = { sleep: run.sleep, factor: 1, retries: 8, budget: 300 };
  await assert.rejects(retry(run.task, options), /failure 4/);
  assert.deepStrictEqual(run.waits, [100, 100, 100]);
});

test('no retries', async () => {
  const run = failing(1);
  await assert.rejects(retry(run.task, { sleep: run.sleep, retries: 0 }));
  assert.strictEqual(run.calls, 1);
});

test('errors that are not worth a retry', async () => {
  const run = failing(1);
  const retryable = (error) => !/failure/.test(error.message);
  await assert.rejects(retry(run.task, { sleep: run.sleep, retryable }));
  assert.strictEqual(run.calls, 1);
});

test('bad options', async () => {
  await assert.rejects(retry(() => 1, { retrys: 3 }), TypeError);
  await assert.rejects(retry(() => 1, { base: 0 }), RangeError);
  await assert.rejects(retry(() => 1, { retries: 1.5 }), RangeError);
});

test('breaker opens and closes', async () => {
  let now = 0;
  const breaker = new Breaker({ threshold: 2, cooldown: 50, now: () => now });
  const run = failing(2);
  const call = guarded(run.task, breaker);
  await assert.rejects(call(), /failure 1/);
  assert.strictEqual(breaker.open, false);
  await assert.rejects(call(), /failure 2/);
  await assert.rejects(call(), /circuit open/);
  now = 50;
  assert.strictEqual(await call(), 'done');
  assert.strictEqual(breaker.failures, 0);
});
