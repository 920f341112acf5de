import { escapePointerToken } from './json-pointer.ts';
/** A difference of two JSON values; an absent member means that the value is absent on that side. */
export interface JsonChange {
  /** JSON Pointer (RFC 6901). */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface JsonDiff {
  readonly changes: readonly JsonChange[];
  /** There are more changes than `maxChanges`. */
  readonly isTruncated: boolean;
}

/** Two values, or what is shown of them. */
interface Sides {
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * Structural diff: one change for each member or item that differs, at the deepest place where both sides have the same
 * kind of value. `shown` gives the values of the result, where they differ from the compared ones: masks of secrets.
 * Members and items that `shown` lacks on both sides are left out.
 */
export function diffJson(
  before: unknown,
  after: unknown,
  maxChanges: number,
  shown: Sides = { before, after },
): JsonDiff {
  const changes: JsonChange[] = [];
  let isTruncated = false;

  function compare(sides: Sides, view: Sides, path: string): void {
    if (isTruncated || isEqual(sides.before, sides.after)) return;
    if (isAbsent(view)) return;
    // Items of a filtered list have other positions: what is shown is compared with itself.
    if (sides !== view && (isFiltered(sides.before, view.before) || isFiltered(sides.after, view.after)))
      return compare(view, view, path);
    const names = listSharedNames(sides);
    if (names) {
      for (const name of names)
        compare(membersOf(sides, name), membersOf(view, name), `${path}/${escapePointerToken(name)}`);
      return;
    }
    if (changes.length >= maxChanges) {
      isTruncated = true;
      return;
    }
    changes.push({
      path,
      ...(sides.before === undefined ? {} : { before: view.before }),
      ...(sides.after === undefined ? {} : { after: view.after }),
    });
  }

  compare({ before, after }, shown, '');
  return { changes, isTruncated };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Scalars by value; other values are compared member by member. */
const isEqual = (before: unknown, after: unknown): boolean => Object.is(before, after);

const isAbsent = ({ before, after }: Sides): boolean => before === undefined && after === undefined;

/** True where the shown list lacks items of the whole one. */
const isFiltered = (whole: unknown, shown: unknown): boolean =>
  Array.isArray(whole) && Array.isArray(shown) && whole.length !== shown.length;

/** Names of members or items of two objects, or of two lists; undefined where the sides have no common structure. */
function listSharedNames({ before, after }: Sides): readonly string[] | undefined {
  if (!isObject(before) || !isObject(after) || Array.isArray(before) !== Array.isArray(after)) return undefined;
  return [...new Set([...Object.keys(before), ...Object.keys(after)])];
}

const memberOf = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const membersOf = ({ before, after }: Sides, name: string): Sides => ({
  before: memberOf(before, name),
  after: memberOf(after, name),
});

/** RFC 6901, 3. */
