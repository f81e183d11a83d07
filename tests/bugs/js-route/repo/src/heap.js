'use strict';

/** Smallest key first; equal keys in any order. */
class Heap {
  constructor() {
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  push(key, value) {
    const items = this.items;
    let at = items.length;
    items.push({ key, value });
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (items[up].key <= items[at].key) break;
      [items[up], items[at]] = [items[at], items[up]];
      at = up;
    }
  }

  pop() {
    const items = this.items;
    const top = items[0];
    const last = items.pop();
    if (items.length > 0) {
      items[0] = last;
      this.sink(0);
    }
    return top;
  }

  sink(at) {
    const items = this.items;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < items.length && items[child].key < items[least].key) {
          least = child;
        }
      }
      if (least === at) return;
      [items[least], items[at]] = [items[at], items[least]];
      at = least;
    }
  }
}

module.exports = { Heap };
