/** A count with its noun, singular for one: `1 request`, `1,204 requests`. A formatted count is a string. */
export const pluralize = (count: number | string, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === '1' ? one : many}`;
