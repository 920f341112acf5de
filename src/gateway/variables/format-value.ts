const isTextList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(it => typeof it === 'string');

/** Formats a value: lists with commas, lists by name as `a:1,2;b:3`. Booleans, null and other objects are empty. */
export function formatValue(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  if (isTextList(value)) return value.join(',');
  if (typeof value !== 'object' || value === null) return '';
  const entries = Object.entries(value);
  return entries.every(([, it]) => isTextList(it))
    ? entries.map(([name, it]) => `${name}:${it.join(',')}`).join(';')
    : '';
}
