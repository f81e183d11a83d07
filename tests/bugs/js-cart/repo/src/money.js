'use strict';

/** Cents are whole; a half is rounded up. */
function part(cents, percent) {
  return Math.round((cents * percent) / 100);
}

/**
 * Shares of an amount in the proportion of the weights, to the cent: what
 * rounding leaves over goes to those that lost most by it.
 */
function spread(amount, weights) {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (sum === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (amount * weight) / sum);
  const shares = exact.map(Math.floor);
  const left = amount - shares.reduce((a, b) => a + b, 0);
  exact.map((value, at) => [value - shares[at], at])
    .sort((a, b) => b[0] - a[0] || a[1] - b[1])
    .slice(0, left)
    .forEach(([, at]) => { shares[at] += 1; });
  return shares;
}

function show(cents) {
  const sign = cents < 0 ? '-' : '';
  const text = String(Math.abs(cents)).padStart(3, '0');
  return `${sign}${text.slice(0, -2)}.${text.slice(-2)}`;
}

module.exports = { part, show, spread };
