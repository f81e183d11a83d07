'use strict';

/** Places in a document: /users/0/first~1last, where ~1 is / and ~0 is ~. */

class PointerError extends Error {}

function escape(part) {
  return String(part).replace(/~/g, '~0').replace(/\//g, '~1');
}

function unescape(text) {
  if (/~(?![01])/.test(text)) throw new PointerError(`bad escape in ${text}`);
  return text.replace(/~1/g, '/');
}

function parse(pointer) {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw new PointerError(`no slash: ${pointer}`);
  return pointer.slice(1).split('/').map(unescape);
}

function format(parts) {
  return parts.map((part) => `/${escape(part)}`).join('');
}

/** The index of a list; "-" is behind the last item. */
function indexIn(list, part, behind) {
  if (part === '-' && behind) return list.length;
  if (!/^(0|[1-9]\d*)$/.test(part)) throw new PointerError(`no index: ${part}`);
  const index = Number(part);
  if (index >= list.length + (behind ? 1 : 0)) {
    throw new PointerError(`no item ${part}`);
  }
  return index;
}

function step(value, part) {
  if (Array.isArray(value)) return value[indexIn(value, part, false)];
  if (typeof value === 'object' && value !== null && Object.hasOwn(value, part)) {
    return value[part];
  }
  throw new PointerError(`no member ${part}`);
}

function get(document, pointer) {
  return parse(pointer).reduce(step, document);
}

module.exports = { PointerError, format, get, indexIn, parse, step };
