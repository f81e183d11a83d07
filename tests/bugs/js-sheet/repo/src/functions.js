/** What formulas can call. Every function gets a list of numbers. */

export class SheetError extends Error {}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

function ordered(numbers) {
  if (numbers.length === 0) throw new SheetError('#NUM!');
  return [...numbers].sort((a, b) => a - b);
}

function average(numbers) {
  return sum(numbers) / numbers.length;
}

function median(numbers) {
  const list = ordered(numbers);
  const half = list.length >> 1;
  return list.length % 2 ? list[half] : (list[half - 1] + list[half]) / 2;
}

/** Standard deviation of a sample. */
function deviation(numbers) {
  if (numbers.length < 2) throw new SheetError('#DIV/0!');
  const mean = average(numbers);
  const squares = numbers.map((n) => (n - mean) ** 2);
  return Math.sqrt(sum(squares) / (numbers.length - 1));
}

export const FUNCTIONS = {
  SUM: sum,
  COUNT: (numbers) => numbers.length,
  AVERAGE: average,
  MEDIAN: median,
  STDEV: deviation,
  MIN: (numbers) => (numbers.length ? Math.min(...numbers) : 0),
  MAX: (numbers) => (numbers.length ? Math.max(...numbers) : 0),
  ROUND: ([n, digits = 0]) => Math.round(n * 10 ** digits) / 10 ** digits,
};
