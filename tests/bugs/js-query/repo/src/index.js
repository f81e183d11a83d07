'use strict';

const { QueryError, parse } = require('./parse');
const { format } = require('./format');

/** The address with other values; null takes a value away. */
function change(address, values) {
  const [rest, hash] = address.split('#');
  const at = rest.indexOf('?');
  const base = at < 0 ? rest : rest.slice(0, at);
  const merged = { ...parse(at < 0 ? '' : rest.slice(at)), ...values };
  for (const key of Object.keys(merged)) {
    if (merged[key] === null) delete merged[key];
  }
  const query = format(merged, { prefix: '?' });
  return base + query + (hash === undefined ? '' : `#${hash}`);
}

module.exports = { QueryError, change, format, parse };
