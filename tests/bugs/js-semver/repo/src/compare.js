'use strict';

function compareNumbers(a, b) {
  return Math.sign(a - b);
}

/** Numbers sort before words; semver.org, section 11. */
function compareIds(a, b) {
  const aNumber = typeof a === 'number';
  const bNumber = typeof b === 'number';
  if (aNumber && bNumber) return compareNumbers(a, b);
  if (aNumber !== bNumber) return aNumber ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function comparePre(a, b) {
  if (a.length === 0 || b.length === 0) {
    return compareNumbers(b.length, a.length);
  }
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const order = compareIds(a[i], b[i]);
    if (order !== 0) return order;
  }
  return compareNumbers(a.length, b.length);
}

function compare(a, b) {
  return compareNumbers(a.major, b.major)
    || compareNumbers(a.minor, b.minor)
    || compareNumbers(a.patch, b.patch)
    || comparePre(a.pre, b.pre);
}

function sameCore(a, b) {
  return a.major === b.major && a.minor === b.minor && a.patch === b.patch;
}

module.exports = { compare, sameCore };
