'use strict';

const { parseVersion } = require('./version');
const { compare, sameCore } = require('./compare');

const TESTS = {
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '=': (order) => order === 0,
};

/** Where a caret range ends: the leftmost non-zero number may not change. */
function caretEnd(v) {
  if (v.major > 0) return { major: v.major + 1, minor: 0, patch: 0, pre: [0] };
  if (v.minor > 0) return { major: 0, minor: v.minor + 1, patch: 0, pre: [0] };
  return { major: 0, minor: 0, patch: v.patch + 1, pre: [0] };
}

function tildeEnd(v) {
  return { major: v.major, minor: v.minor + 1, patch: 0, pre: [0] };
}

function parseWord(word) {
  if (word === '*') return [];
  const match = /^(\^|~|[<>]=?|=)?(.+)$/.exec(word);
  const op = match[1] || '=';
  const version = parseVersion(match[2]);
  if (op !== '^' && op !== '~') return [{ op, version }];
  const end = op === '^' ? caretEnd(version) : tildeEnd(version);
  return [{ op: '>=', version }, { op: '<', version: end, implied: true }];
}

/** '^1.2.0 || >=3.0.0 <4.0.0' -> list of lists of comparators */
function parseRange(text) {
  return text.split('||').map((part) =>
    part.trim().split(/\s+/).filter(Boolean).flatMap(parseWord));
}

/** Pre-releases count only next to a comparator that names one. */
function admitsPre(comparators, version) {
  return comparators.some((c) =>
    !c.implied && c.version.pre.length > 0 && sameCore(c.version, version));
}

function matchesAll(comparators, version, options) {
  const fits = comparators.every((c) =>
    TESTS[c.op](compare(version, c.version)));
  if (!fits) return false;
  if (version.pre.length > 0 && options.includePrerelease) {
    return admitsPre(comparators, version);
  }
  return true;
}

function satisfies(version, range, options = {}) {
  return range.some((comparators) => matchesAll(comparators, version, options));
}

module.exports = { parseRange, satisfies };
