'use strict';

const { normalize } = require('./options');
const { plan } = require('./backoff');
const { Breaker } = require('./breaker');

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolve with the first success of task, or reject with its last error. */
async function retry(task, given) {
  const options = normalize(given);
  const sleep = options.sleep || pause;
  const waits = plan(options);
  for (let attempt = 0; ; attempt++) {
    try {
      return await task(attempt);
    } catch (error) {
      if (attempt >= waits.length || !options.retryable(error)) throw error;
      await sleep(waits[attempt]);
    }
  }
}

/** Wrap task so that calls fail fast while the breaker is open. */
function guarded(task, breaker) {
  return async (...args) => {
    if (breaker.open) throw new Error('circuit open');
    try {
      const result = await task(...args);
      breaker.succeeded();
      return result;
    } catch (error) {
      breaker.failed();
      throw error;
    }
  };
}

module.exports = { Breaker, guarded, retry };
