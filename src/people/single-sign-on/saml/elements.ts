import { isObject } from '#base/json-tree.ts';

/** Reads of parsed XML (`languages/xml.ts`): an absent element or attribute is empty. */

export function listChildren(element: unknown, name: string): unknown[] {
  const value = isObject(element) && Object.hasOwn(element, name) ? element[name] : undefined;
  return value === undefined ? [] : [value].flat();
}

export function readAttribute(element: unknown, name: string): string {
  const value = isObject(element) ? element[`-${name}`] : undefined;
  return typeof value === 'string' ? value : '';
}

export function readElementText(element: unknown): string {
  const value = isObject(element) ? element['#text'] : element;
  return typeof value === 'string' ? value : '';
}

/** Number of elements of a name, at any depth. */
export function countElements(value: unknown, name: string): number {
  if (Array.isArray(value)) return value.reduce((sum: number, it) => sum + countElements(it, name), 0);
  if (!isObject(value)) return 0;
  return Object.entries(value).reduce((sum, [key, member]) => {
    const own = key === name ? [member].flat().length : 0;
    return sum + own + countElements(member, name);
  }, 0);
}
