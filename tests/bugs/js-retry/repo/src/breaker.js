'use strict';

/** Stops calling a service that failed several times in a row. */
class Breaker {
  constructor({ threshold = 3, cooldown = 1000, now = Date.now } = {}) {
    this.threshold = threshold;
    this.cooldown = cooldown;
    this.now = now;
    this.failures = 0;
    this.openedAt = null;
  }

  get open() {
    if (this.openedAt === null) return false;
    return this.now() - this.openedAt < this.cooldown;
  }

  succeeded() {
    this.failures = 0;
    this.openedAt = null;
  }

  failed() {
    this.failures += 1;
    if (this.failures >= this.threshold) this.openedAt = this.now();
  }
}

module.exports = { Breaker };
