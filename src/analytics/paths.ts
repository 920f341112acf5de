/** Path segments that are ids, with their placeholder. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^\d+$/, '{id}'],
  [/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i, '{uuid}'],
  [/^[0-7][0-9a-hjkmnp-tv-z]{25}$/i, '{ulid}'],
];

const toPlaceholder = (part: string) => kinds.find(([pattern]) => pattern.test(part))?.[1] ?? part;

/** `/orders/17/items/3` as `/orders/{id}/items/{id}`. */
export const normalisePath = (path: string): string => path.split('/').map(toPlaceholder).join('/');
