'use strict';

const { width } = require('./width');

/** A line that is being filled with words. */
class Line {
  constructor(limit) {
    this.limit = limit;
    this.words = [];
    this.used = 0;
  }

  get empty() {
    return this.words.length === 0;
  }

  fits(word) {
    const gap = this.empty ? 0 : 1;
    return this.used + gap + width(word) < this.limit;
  }

  add(word) {
    this.used += (this.empty ? 0 : 1) + width(word);
    this.words.push(word);
  }

  toString() {
    return this.words.join(' ');
  }
}

module.exports = { Line };
