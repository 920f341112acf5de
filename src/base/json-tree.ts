/** Plain JSON values by path. Nothing here changes what was given; `put` and `cut` work on copies their caller made. */
export type Bag = Record<string, unknown>;
export type Path = readonly string[];

export const isBag = (value: unknown): value is Bag =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const bagOf = (value: unknown): Bag => (isBag(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function at(root: unknown, path: Path): unknown {
  let value = root;
  for (const segment of path) {
    if (!isBag(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value;
}

/** Sets a value, making the objects on the way to it. */
export function put(root: Bag, path: Path, value: unknown): void {
  const last = path.length - 1;
  let holder = root;
  for (const segment of path.slice(0, last)) {
    const next = at(holder, [segment]);
    const bag = isBag(next) ? next : {};
    define(holder, segment, bag);
    holder = bag;
  }
  define(holder, path[last]!, value);
}

/** A plain assignment would let the name `__proto__` change what the object is. */
function define(holder: Bag, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Takes a value away, and the objects that hold nothing else. */
export function cut(root: Bag, path: Path): void {
  const [first, ...rest] = path;
  if (first === undefined || !Object.hasOwn(root, first)) return;
  const next = root[first];
  if (rest.length === 0) delete root[first];
  else if (isBag(next)) {
    cut(next, rest);
    if (Object.keys(next).length === 0) delete root[first];
  }
}

/** Whether a value says nothing: false, zero, the empty text, an empty list or object. */
export function isSilent(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isBag(value)) return Object.keys(value).length === 0;
  return !value;
}
