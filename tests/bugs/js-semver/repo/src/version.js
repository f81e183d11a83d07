'use strict';

const PATTERN = /^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/;

/** '1.2.3-rc.1' -> { major, minor, patch, pre: ['rc', 1] } */
function parseVersion(text) {
  const match = PATTERN.exec(text.trim());
  if (!match) throw new TypeError(`not a version: ${text}`);
  const [major, minor, patch] = match.slice(1, 4).map(Number);
  return { major, minor, patch, pre: parsePre(match[4]) };
}

function parsePre(text) {
  if (!text) return [];
  return text.split('.').map((id) => (/^\d+$/.test(id) ? Number(id) : id));
}

function formatVersion(v) {
  const core = `${v.major}.${v.minor}.${v.patch}`;
  return v.pre.length > 0 ? `${core}-${v.pre.join('.')}` : core;
}

module.exports = { formatVersion, parseVersion };
