/** Which form of a word goes with a number, by language. */

const between = (n, low, high) => n >= low && n <= high;
const whole = (n) => Number.isInteger(n);

const RULES = {
  en(n) {
    return n === 1 ? 'one' : 'other';
  },

  fr(n) {
    return between(Math.trunc(n), 0, 1) ? 'one' : 'other';
  },

  cs(n) {
    if (n === 1) return 'one';
    if (whole(n) && between(n, 2, 4)) return 'few';
    return whole(n) ? 'other' : 'many';
  },

  pl(n) {
    if (n === 1) return 'one';
    if (!whole(n)) return 'other';
    if (between(n % 10, 2, 4)) return 'few';
    return 'many';
  },

  ru(n) {
    if (!whole(n)) return 'other';
    if (n % 10 === 1 && n % 100 !== 11) return 'one';
    if (between(n % 10, 2, 4) && !between(n % 100, 12, 14)) return 'few';
    return 'many';
  },

  lt(n) {
    if (!whole(n)) return 'many';
    if (n % 10 === 1 && !between(n % 100, 11, 19)) return 'one';
    if (n % 10 > 1 && !between(n % 100, 11, 19)) return 'few';
    return 'other';
  },

  ja() {
    return 'other';
  },
};

export function plural(language, n) {
  const rule = RULES[language.split('-')[0]] || RULES.en;
  return rule(Math.abs(n));
}
