'use strict';

const { part } = require('./money');

const KINDS = {
  percent: (coupon, cents) => part(cents, coupon.percent),
  amount: (coupon, cents) => Math.min(coupon.cents, cents),
};

/** Coupons of one group do not go together; the first one counts. */
function usable(coupons, cents, day) {
  const groups = new Set();
  return coupons.filter((coupon) => {
    if (coupon.until && day > coupon.until) return false;
    if (cents < (coupon.from || 0)) return false;
    if (coupon.group && groups.has(coupon.group)) return false;
    groups.add(coupon.group);
    return true;
  });
}

/** Cents off the goods; each coupon works on what the one before has left. */
function discount(coupons, cents, day) {
  let left = cents;
  for (const coupon of usable(coupons, cents, day)) {
    left -= KINDS[coupon.kind](coupon, left);
  }
  return cents - left;
}

module.exports = { discount };
