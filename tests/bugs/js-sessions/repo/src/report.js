'use strict';

const { parseLog } = require('./line');
const { Sessions } = require('./sessions');

function visits(log, options) {
  const sessions = new Sessions(options);
  for (const event of parseLog(log)) sessions.add(event);
  return sessions.finish();
}

function tally(values) {
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

/** What the visits of a log have in common. */
function report(log, options) {
  const all = visits(log, options);
  const bounced = all.filter((visit) => visit.pages.length === 1);
  const seconds = all.reduce((sum, visit) => sum + visit.to - visit.from, 0);
  return {
    visits: all.length,
    users: new Set(all.map((visit) => visit.user)).size,
    bounced: all.length ? Math.round((100 * bounced.length) / all.length) : 0,
    seconds: all.length ? Math.round(seconds / all.length) : 0,
    entries: tally(all.map((visit) => visit.entry)),
  };
}

module.exports = { report, visits };
