'use strict';

const DEFAULTS = {
  retries: 4,
  base: 100,
  factor: 1,
  maxWait: 5000,
  budget: 30000,
  retryable: () => true,
};

const POSITIVE = ['base', 'factor', 'maxWait', 'budget'];

function normalize(given = {}) {
  for (const name of Object.keys(given)) {
    if (!(name in DEFAULTS) && name !== 'sleep') {
      throw new TypeError(`unknown option: ${name}`);
    }
  }
  const options = { ...DEFAULTS, ...given };
  for (const name of POSITIVE) {
    if (!(options[name] > 0)) throw new RangeError(`${name} must be positive`);
  }
  if (!Number.isInteger(options.retries) || options.retries < 0) {
    throw new RangeError('retries must be a whole number');
  }
  return options;
}

module.exports = { normalize };
