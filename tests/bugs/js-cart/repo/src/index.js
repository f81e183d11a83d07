'use strict';

const { discount } = require('./coupons');
const { part, show, spread } = require('./money');

const SHIPPING = { cents: 490, free: 5000, rate: 20 };

class Cart {
  constructor(day = '2024-01-01') {
    this.day = day;
    this.lines = [];
    this.coupons = [];
  }

  /** Prices are without tax; rate is that of the tax, in percent. */
  add(name, cents, { count = 1, rate = 20 } = {}) {
    if (!Number.isInteger(cents) || cents < 0 || count < 1) {
      throw new RangeError(`bad line: ${name}`);
    }
    const same = this.lines.find((line) => line.name === name && line.cents === cents);
    if (same) same.count += count;
    else this.lines.push({ name, cents, count, rate });
    return this;
  }

  coupon(coupon) {
    this.coupons.push(coupon);
    return this;
  }

  amounts() {
    return this.lines.map((line) => line.cents * line.count);
  }

  goods() {
    return this.amounts().reduce((a, b) => a + b, 0);
  }

  shipping(goods) {
    return this.lines.length === 0 || goods >= SHIPPING.free ? 0 : SHIPPING.cents;
  }

  /** Tax for each rate, on what is really paid. */
  taxes(shipping) {
    const bases = new Map();
    const rows = this.amounts().map((cents, at) => [this.lines[at].rate, cents]);
    for (const [rate, cents] of [...rows, [SHIPPING.rate, shipping]]) {
      bases.set(rate, (bases.get(rate) || 0) + cents);
    }
    return [...bases].filter(([, cents]) => cents > 0)
      .sort((a, b) => b[0] - a[0])
      .map(([rate, cents]) => ({ rate, base: cents, cents: part(cents, rate) }));
  }

  checkout() {
    const goods = this.goods();
    const off = discount(this.coupons, goods, this.day);
    const shipping = this.shipping(goods - off);
    const taxes = this.taxes(shipping);
    const total = goods - off + shipping +
      taxes.reduce((sum, tax) => sum + tax.cents, 0);
    return { goods, off, shipping, taxes, total };
  }

  /** Equal parts; the first ones are a cent more where it does not come out. */
  instalments(count) {
    return spread(this.checkout().total, new Array(count).fill(1));
  }

  receipt() {
    const { off, shipping, taxes, total } = this.checkout();
    const rows = this.lines.map((line, at) =>
      [`${line.count} ${line.name}`, this.amounts()[at]]);
    if (off > 0) rows.push(['discount', -off]);
    rows.push(['shipping', shipping]);
    for (const { rate, cents } of taxes) rows.push([`tax ${rate}%`, cents]);
    rows.push(['total', total]);
    return rows.map(([text, cents]) => text.padEnd(20) + show(cents).padStart(10));
  }
}

module.exports = { Cart };
