'use strict';

const LIMIT = 100;

class QueryError extends Error {}

/** A plus is a blank; what is badly escaped stays as it is. */
function decode(text) {
  const blanks = text.replace(/\+/g, ' ');
  try {
    return decodeURIComponent(blanks);
  } catch {
    return blanks;
  }
}

/** "a[b][]" -> ["a", "b", ""] */
function path(key) {
  const found = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(key);
  if (!found) return [key];
  return [found[1], ...[...found[2].matchAll(/\[(.*?)\]/g)].map((m) => m[1])];
}

function put(target, keys, value) {
  const [key, ...rest] = keys;
  if (key === '__proto__') throw new QueryError(`no such key: ${key}`);
  if (rest.length === 0) {
    const old = target[key];
    if (old === undefined) target[key] = value;
    else target[key] = Array.isArray(old) ? [...old, value] : [old, value];
  } else if (rest[0] === '') {
    target[key] = [...(target[key] || []), value];
  } else {
    if (typeof (target[key] || {}) !== 'object') {
      throw new QueryError(`${key} is a value already`);
    }
    target[key] = target[key] || {};
    put(target[key], rest, value);
  }
}

/** "?a=1&b[c]=2&d[]=3&d[]=4" -> { a: "1", b: { c: "2" }, d: ["3", "4"] } */
function parse(text) {
  const values = {};
  const pairs = text.replace(/^\?/, '').split('&').filter(Boolean);
  if (pairs.length > LIMIT) throw new QueryError('too many values');
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const key = at < 0 ? pair : pair.slice(0, at);
    const value = at < 0 ? '' : pair.slice(at + 1);
    put(values, path(decode(key)), decode(value));
  }
  return values;
}

module.exports = { QueryError, parse };
