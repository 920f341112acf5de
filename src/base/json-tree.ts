/** JSON tree access by path. Reads never modify; `setAt` and `deleteAt` modify the tree they get. */
export type JsonObject = Record<string, unknown>;
export type JsonPath = readonly string[];

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const objectOrEmpty = (value: unknown): JsonObject => (isObject(value) ? value : {});
/** Use it for values of documents: `String` throws on an object whose `toString` is no function. */
export const textOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');
export const arrayOrEmpty = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export function getAt(root: unknown, path: JsonPath): unknown {
  let value = root;
  for (const segment of path) {
    if (!isObject(value) || !Object.hasOwn(value, segment)) return undefined;
    value = value[segment];
  }
  return value;
}

/** Sets a value, creating the objects on its path. */
export function setAt(root: JsonObject, path: JsonPath, value: unknown): void {
  const last = path.length - 1;
  let holder = root;
  for (const segment of path.slice(0, last)) {
    const next = getAt(holder, [segment]);
    const object = isObject(next) ? next : {};
    defineMember(holder, segment, object);
    holder = object;
  }
  defineMember(holder, path[last]!, value);
}

/** Defines an own property: assignment to `__proto__` would change the prototype. */
function defineMember(holder: JsonObject, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, writable: true, enumerable: true, configurable: true });
}

/** Deletes a value, and the objects that become empty. */
export function deleteAt(root: JsonObject, path: JsonPath): void {
  const [first, ...rest] = path;
  if (first === undefined || !Object.hasOwn(root, first)) return;
  const next = root[first];
  if (rest.length === 0) delete root[first];
  else if (isObject(next)) {
    deleteAt(next, rest);
    if (Object.keys(next).length === 0) delete root[first];
  }
}

/** True for false, zero, null, and empty texts, lists and objects. */
export function isZeroValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.keys(value).length === 0;
  return !value;
}
