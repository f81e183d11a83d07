'use strict';

const { isDeepStrictEqual } = require('node:util');
const { PointerError, format, get, indexIn, parse, step } = require('./pointer');

class PatchError extends Error {}

function parent(document, pointer) {
  const parts = parse(pointer);
  const last = parts.pop();
  return [parts.reduce(step, document), last];
}

function add(document, pointer, value) {
  if (pointer === '') return value;
  const [into, key] = parent(document, pointer);
  if (Array.isArray(into)) into.splice(indexIn(into, key, true), 0, value);
  else into[key] = value;
  return document;
}

function remove(document, pointer) {
  get(document, pointer);
  if (pointer === '') return null;
  const [from, key] = parent(document, pointer);
  if (Array.isArray(from)) from.splice(Number(key), 1);
  else delete from[key];
  return document;
}

const OPERATIONS = {
  add: (doc, { path, value }) => add(doc, path, value),
  remove: (doc, { path }) => remove(doc, path),
  replace: (doc, { path, value }) => add(remove(doc, path), path, value),
  copy: (doc, { from, path }) => add(doc, path, structuredClone(get(doc, from))),
  move(doc, { from, path }) {
    if (path.startsWith(`${from}/`)) throw new PatchError(`${path} is in ${from}`);
    const value = get(doc, from);
    return add(remove(doc, from), path, value);
  },
  test(doc, { path, value }) {
    if (isDeepStrictEqual(get(doc, path), value)) return doc;
    throw new PatchError(`${path} is something else`);
  },
};

/** All operations or none: the document itself is never changed. */
function apply(document, operations) {
  let result = structuredClone(document);
  operations.forEach((operation, number) => {
    if (!Object.hasOwn(OPERATIONS, operation.op)) {
      throw new PatchError(`operation ${number}: what is ${operation.op}?`);
    }
    try {
      result = OPERATIONS[operation.op](result, operation);
    } catch (error) {
      if (!(error instanceof PointerError)) throw error;
      throw new PatchError(`operation ${number}: ${error.message}`);
    }
  });
  return result;
}

/** Operations that make one document of the other; lists are replaced. */
function diff(a, b, parts = []) {
  if (isDeepStrictEqual(a, b)) return [];
  const plain = [a, b].every((v) => typeof v === 'object' && v !== null &&
    !Array.isArray(v));
  if (!plain) return [{ op: 'replace', path: format(parts), value: b }];
  const path = (key) => format([...parts, key]);
  return [
    ...Object.keys(a).filter((key) => !Object.hasOwn(b, key))
      .map((key) => ({ op: 'remove', path: path(key) })),
    ...Object.keys(b).flatMap((key) => (Object.hasOwn(a, key)
      ? diff(a[key], b[key], [...parts, key])
      : [{ op: 'add', path: path(key), value: b[key] }])),
  ];
}

module.exports = { PatchError, apply, diff };
