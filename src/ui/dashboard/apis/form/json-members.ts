export interface FormObject {
  readonly [name: string]: unknown;
}
export type FieldPath = readonly (string | number)[];

export const isJsonObject = (value: unknown): value is FormObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const toJsonObject = (value: unknown): FormObject => (isJsonObject(value) ? value : {});

/** Value at a path; undefined where a part of the path is missing. */
export function readFieldValue(root: unknown, path: FieldPath): unknown {
  let value = root;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string | number, unknown>)[name];
  }
  return value;
}

/** Copy with another value at a path; undefined removes the member. Every other member stays, in its order. */
export function withMember(root: unknown, path: FieldPath, value: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(root)) {
    const items = root.with(Number(name), withMember(root[Number(name)], rest, value));
    return rest.length === 0 && value === undefined ? root.toSpliced(Number(name), 1) : items;
  }
  const before = toJsonObject(root);
  const next = withMember(Object.hasOwn(before, name) ? before[name] : undefined, rest, value);
  if (rest.length === 0 && value === undefined) {
    const { [name]: _removed, ...others } = before;
    return others;
  }
  return { ...before, [name]: next };
}

export const isEqualJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Three-way merge: members that only one side changed are taken from it; of a member that both changed, `mine`. */
export function mergeDefinitions(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isEqualJson(mine, base)) return theirs;
  if (!isJsonObject(mine) || !isJsonObject(theirs)) return mine;
  const before = toJsonObject(base);
  const merged: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(theirs), ...Object.keys(mine)])) {
    const value = mergeDefinitions(before[name], mine[name], theirs[name]);
    if (value !== undefined) Object.defineProperty(merged, name, { value, enumerable: true, writable: true });
  }
  return merged;
}
