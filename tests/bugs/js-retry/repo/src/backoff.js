'use strict';

/** Milliseconds to wait before retry number n, the first being 1. */
function waitBefore(n, { base, factor, maxWait }) {
  return Math.min(base * factor ** (n - 1), maxWait);
}

/** All waits that the options allow. */
function plan(options) {
  const waits = [];
  let total = 0;
  for (let n = 1; n <= options.retries; n++) {
    const wait = waitBefore(n, options);
    total += wait;
    if (total > options.budget) break;
    waits.push(wait);
  }
  return waits;
}

module.exports = { plan, waitBefore };
