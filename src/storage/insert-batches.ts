/**
 * Splits rows for inserts into batches of powers of two, the largest first. SQLite compiles one statement for each number
 * of rows, and a cached one holds the values of its last run: with any number of rows these would fill the memory.
 */
export function* splitIntoBatches<Row>(rows: readonly Row[], maxRows: number): Generator<readonly Row[]> {
  const largest = 2 ** Math.floor(Math.log2(maxRows));
  for (let at = 0, size = largest; at < rows.length; at += size) {
    while (size > rows.length - at) size /= 2;
    yield rows.slice(at, at + size);
  }
}

/** Repeats the last value of a list for `in` or `or`, up to a power of two: few statements, as for inserts. */
export function padToPowerOfTwo<T>(values: readonly T[]): T[] {
  if (values.length === 0) return [];
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array.from({ length: length - values.length }, () => values.at(-1)!)];
}
