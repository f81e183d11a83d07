/** Coins in a box: a Map from the value of a coin to the number of them. */

export function total(coins) {
  let sum = 0;
  for (const [coin, count] of coins) sum += coin * count;
  return sum;
}

export function count(coins) {
  let sum = 0;
  for (const number of coins.values()) sum += number;
  return sum;
}

export function put(box, coins) {
  for (const [coin, number] of coins) {
    box.set(coin, (box.get(coin) || 0) + number);
  }
}

export function take(box, coins) {
  for (const [coin, number] of coins) {
    const left = (box.get(coin) || 0) - number;
    if (left < 0) throw new RangeError(`not that many coins of ${coin}`);
    box.set(coin, left);
  }
}

/** The fewest coins out of the box that make up the amount, or null. */
export function change(box, amount) {
  const coins = [...box.keys()].sort((a, b) => b - a);
  const given = new Map();
  let rest = amount;
  for (const coin of coins) {
    const n = Math.min(box.get(coin), Math.floor(rest / coin));
    if (n > 0) given.set(coin, n);
    rest -= n * coin;
  }
  return rest === 0 ? given : null;
}
