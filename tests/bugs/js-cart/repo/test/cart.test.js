'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Cart } = require('../src');

const TEN = { kind: 'percent', percent: 10 };
const FIVE = { kind: 'amount', cents: 500 };

test('empty', () => {
  assert.deepStrictEqual(new Cart().checkout(),
    { goods: 0, off: 0, shipping: 0, taxes: [], total: 0 });
});

test('one line', () => {
  const { goods, shipping, total } = new Cart().add('lamp', 2000).checkout();
  assert.deepStrictEqual([goods, shipping, total], [2000, 490, 2988]);
});

test('the same twice', () => {
  const cart = new Cart().add('pen', 100).add('pen', 100, { count: 2 });
  assert.deepStrictEqual(cart.lines.map((line) => line.count), [3]);
});

test('no shipping for much', () => {
  assert.strictEqual(new Cart().add('lamp', 5000).checkout().shipping, 0);
});

test('rates apart', () => {
  const cart = new Cart().add('lamp', 4000).add('book', 2000, { rate: 5 });
  assert.deepStrictEqual(cart.checkout().taxes, [
    { rate: 20, base: 4000, cents: 800 }, { rate: 5, base: 2000, cents: 100 }]);
});

test('shipping is taxed', () => {
  const cart = new Cart().add('book', 1000, { rate: 5 });
  assert.deepStrictEqual(cart.checkout().taxes, [
    { rate: 20, base: 490, cents: 98 }, { rate: 5, base: 1000, cents: 50 }]);
});

test('a coupon can cost the free shipping', () => {
  const { off, shipping } = new Cart().add('lamp', 5400).coupon(FIVE).checkout();
  assert.deepStrictEqual([off, shipping], [500, 490]);
});

test('coupons one after the other', () => {
  const cart = new Cart().add('lamp', 10000).coupon(FIVE).coupon(TEN);
  assert.strictEqual(cart.checkout().off, 500 + 950);
});

test('never more than the goods', () => {
  const cart = new Cart().add('pen', 300, { rate: 0 }).coupon(FIVE);
  assert.strictEqual(cart.checkout().off, 300);
});

test('coupons that do not count', () => {
  const cart = new Cart('2024-03-02').add('lamp', 4000)
    .coupon({ ...TEN, until: '2024-03-01' })
    .coupon({ ...FIVE, from: 4001 })
    .coupon({ ...FIVE, group: 'x' })
    .coupon({ ...TEN, group: 'x' });
  assert.strictEqual(cart.checkout().off, 500);
});

test('tax on what is paid', () => {
  const cart = new Cart().add('lamp', 10000).coupon(TEN);
  assert.deepStrictEqual(cart.checkout(), { goods: 10000, off: 1000,
    shipping: 0, taxes: [{ rate: 20, base: 9000, cents: 1800 }], total: 10800 });
});

test('a coupon lowers the tax of each rate', () => {
  const cart = new Cart().add('lamp', 6001).add('book', 2000, { rate: 5 })
    .coupon({ ...FIVE, cents: 801 });
  assert.deepStrictEqual(cart.checkout().taxes, [
    { rate: 20, base: 5400, cents: 1080 }, { rate: 5, base: 1800, cents: 90 }]);
});

test('receipt', () => {
  const cart = new Cart().add('lamp', 6000).coupon({ ...FIVE, cents: 60 });
  assert.deepStrictEqual(cart.receipt().map((row) => row.split(/\s{2,}/)), [
    ['1 lamp', '60.00'], ['discount', '-0.60'], ['shipping', '0.00'],
    ['tax 20%', '11.88'], ['total', '71.28']]);
});

test('instalments', () => {
  const cart = new Cart().add('lamp', 5000);
  assert.deepStrictEqual(cart.instalments(4), [1500, 1500, 1500, 1500]);
  assert.deepStrictEqual(cart.instalments(7), [858, 857, 857, 857, 857, 857, 857]);
});

test('bad lines', () => {
  assert.throws(() => new Cart().add('x', 1.5), RangeError);
  assert.throws(() => new Cart().add('x', 100, { count: 0 }), RangeError);
});
