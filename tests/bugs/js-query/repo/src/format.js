'use strict';

function encode(text) {
  return encodeURI(text).replace(/%20/g, '+');
}

/** Brackets stay readable in keys. */
function encodeKey(text) {
  return encodeURI(text).replace(/[&=+#?]/g, encodeURIComponent)
    .replace(/%5B/g, '[').replace(/%5D/g, ']').replace(/%20/g, '+');
}

function isPlain(value) {
  return typeof value === 'object' && value !== null &&
    !(value instanceof Date);
}

function show(value) {
  if (value instanceof Date) return value.toISOString();
  return value === null ? '' : String(value);
}

/** [key, value] of all that is in there; undefined is left out. */
function* flat(value, key) {
  if (value === undefined) return;
  if (Array.isArray(value)) {
    for (const item of value) yield* flat(item, `${key}[]`);
  } else if (isPlain(value)) {
    for (const name of Object.keys(value)) {
      yield* flat(value[name], key ? `${key}[${name}]` : name);
    }
  } else {
    yield [key, show(value)];
  }
}

/** The keys in their order, or sorted: { sort: true } */
function format(values, { sort = false, prefix = '' } = {}) {
  const pairs = [...flat(values, '')]
    .map(([key, value]) => `${encodeKey(key)}=${encode(value)}`);
  if (sort) pairs.sort();
  return pairs.length ? prefix + pairs.join('&') : '';
}

module.exports = { format };
