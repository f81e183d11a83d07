'use strict';

const { formatVersion, parseVersion } = require('./version');
const { compare } = require('./compare');
const { parseRange, satisfies } = require('./range');

/** Highest of the versions that the range allows, or null. */
function pick(versions, range, options) {
  const parsed = parseRange(range);
  let best = null;
  for (const text of versions) {
    const version = parseVersion(text);
    if (!satisfies(version, parsed, options)) continue;
    if (best === null || compare(version, best) > 0) best = version;
  }
  return best && formatVersion(best);
}

function sort(versions) {
  return versions.map(parseVersion).sort(compare).map(formatVersion);
}

module.exports = { pick, sort };
