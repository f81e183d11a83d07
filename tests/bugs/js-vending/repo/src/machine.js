import { change, put, take, total } from './coins.js';

export class MachineError extends Error {}

/** Sells what is in its slots: { code: { name, price, count } } */
export class Machine {
  constructor(slots, coins = {}, accepted = [5, 10, 20, 50, 100, 200]) {
    this.slots = slots;
    this.accepted = accepted;
    this.box = new Map(accepted.map((coin) => [coin, coins[coin] || 0]));
    this.inserted = new Map();
    this.sold = [];
  }

  get credit() {
    return total(this.inserted);
  }

  /** What can't be used falls through: false. */
  insert(coin) {
    if (!this.accepted.includes(coin)) return false;
    this.inserted.set(coin, (this.inserted.get(coin) || 0) + 1);
    return true;
  }

  cancel() {
    const back = this.inserted;
    this.inserted = new Map();
    return back;
  }

  slot(code) {
    if (!Object.hasOwn(this.slots, code)) throw new MachineError('no such slot');
    const slot = this.slots[code];
    if (slot.count === 0) throw new MachineError('sold out');
    return slot;
  }

  /** Sell one and return the change. Coins just put in can be part of it. */
  choose(code) {
    const slot = this.slot(code);
    if (this.credit < slot.price) {
      throw new MachineError(`${slot.price - this.credit} missing`);
    }
    const paid = this.inserted;
    put(this.box, paid);
    const back = change(this.box, this.credit - slot.price);
    if (!back) {
      take(this.box, paid);
      throw new MachineError('no change');
    }
    take(this.box, back);
    this.inserted = new Map();
    slot.count -= 1;
    this.sold.push(slot.name);
    return back;
  }

  report() {
    const names = [...new Set(this.sold)].sort();
    return {
      cash: total(this.box),
      sold: names.map((name) => [name,
        this.sold.filter((other) => other === name).length]),
      empty: Object.keys(this.slots).filter((code) => this.slots[code].count === 0),
    };
  }
}
