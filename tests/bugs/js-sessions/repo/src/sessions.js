'use strict';

function start({ user, at, page }) {
  return { user, from: at, to: at, entry: page, pages: [page], errors: 0 };
}

/**
 * Cuts the visits of each user out of the stream of all events, which come in
 * the order of time. A visit ends when nothing came for `idle` seconds, and at
 * a logout.
 */
class Sessions {
  constructor({ idle = 1800, logout = '/logout' } = {}) {
    this.idle = idle;
    this.logout = logout;
    this.open = new Map();
    this.closed = [];
  }

  add(event) {
    let visit = this.open.get(event.user);
    if (visit && event.at - visit.to > this.idle) {
      this.close(event.user);
      visit = undefined;
    }
    if (!visit) {
      visit = start(event);
      this.open.set(event.user, visit);
    } else if (visit.pages[visit.pages.length - 1] !== event.page) {
      visit.pages.push(event.page);
      visit.to = event.at;
    }
    if (event.status >= 400) visit.errors += 1;
    if (event.page === this.logout) this.close(event.user);
  }

  close(user) {
    this.closed.push(this.open.get(user));
    this.open.delete(user);
  }

  /** All visits, those too that are still open. */
  finish() {
    for (const user of [...this.open.keys()]) this.close(user);
    return this.closed.sort((a, b) => a.from - b.from);
  }
}

module.exports = { Sessions };
