import type { RowObserver } from '#storage/operation-context.ts';
import { problem } from './problems.ts';

/** Tables of versioned objects: their stored rows are hashed to entity tags. */
export type VersionedTable =
  | 'apis'
  | 'policies'
  | 'keys'
  | 'hooks'
  | 'certificates'
  | 'assets'
  | 'users'
  | 'user_groups'
  | 'identity_profiles'
  | 'organisations';

/** Keyed hash: entity tags reach logs and caches, and stored rows contain hashes of passwords. */
export type HashText = (text: string) => string;

/** Field value of If-Match or If-None-Match (RFC 9110, 13.1): `*`, or opaque tags without their quotes. */
type TagCondition = '*' | readonly Tag[];
interface Tag {
  readonly isWeak: boolean;
  readonly opaque: string;
}

/** Conditions of a request. */
export interface Preconditions {
  readonly ifMatch?: TagCondition | undefined;
  readonly ifNoneMatch?: TagCondition | undefined;
}

/** Bounds the field values of a condition, and with them the comparisons. */
const maxTags = 100;
const entityTag = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/;

/** Lengths of the parts of a tag, in hexadecimal digits. */
const versionDigits = 32;
const representationDigits = 16;
/** Between version and representation: the version alone identifies the stored object. */
const separator = '-';

const parseTag = (text: string): Tag => {
  const [, weak, opaque] = entityTag.exec(text.trim()) ?? [];
  if (opaque === undefined) throw problem.malformed_tag({ detail: { text: text.trim().slice(0, 100) } });
  return { isWeak: weak !== undefined, opaque };
};

export function parseTagCondition(field: string | undefined): TagCondition | undefined {
  if (field === undefined) return undefined;
  if (field.trim() === '*') return '*';
  // A comma inside of a tag is refused: no tag of this program contains one.
  const texts = field.split(',');
  if (texts.length > maxTags) throw problem.malformed_tag({ detail: { text: `more than ${maxTags} tags` } });
  return texts.map(parseTag);
}

const versionOf = (opaque: string) => opaque.split(separator)[0]!;

/** Strong comparison of stored versions: a representation of any version differs, the object does not. */
const matchesVersion = (condition: TagCondition, version: string | undefined): boolean => {
  if (version === undefined) return false;
  return condition === '*' || condition.some(tag => !tag.isWeak && versionOf(tag.opaque) === version);
};

/** Versions of the object of an operation: checks its conditions, and gives its entity tags. */
export interface ObjectVersions extends RowObserver {
  /** Tag of the object after a write, by its version alone; undefined after a removal or without a write. */
  toWrittenTag(): string | undefined;
  /**
   * Tag of a representation that was read; undefined where no object was. Throws where If-Match does not hold.
   */
  tagRepresentation(text: string): string | undefined;
  /** If-None-Match by weak comparison, of representations: the response is 304 where one matches. */
  isUnchanged(tag: string): boolean;
}

/**
 * Follows the first row of the table that the operation reads, or writes, which is its object. A condition is checked
 * in the transaction of the write, under the lock of the row: of two writers with the same tag one fails.
 */
export function createObjectVersions(
  table: VersionedTable,
  { ifMatch, ifNoneMatch }: Preconditions,
  hash: HashText,
): ObjectVersions {
  const toVersion = (body: string) => hash(body).slice(0, versionDigits);
  let readBody: string | undefined;
  let target: { readonly id: string; readonly isInserted: boolean } | undefined;
  let writtenBody: string | undefined;

  function checkWrite(before: string | undefined): void {
    if (!ifMatch && !ifNoneMatch) return;
    const version = before === undefined ? undefined : toVersion(before);
    if (ifMatch && !matchesVersion(ifMatch, version)) throw problem.version_changed();
    if (ifNoneMatch && matchesVersion(ifNoneMatch, version)) throw problem.version_exists();
  }

  return {
    table,
    onRead(body) {
      readBody ??= body;
    },
    onWrite(id, before, after) {
      // An insert that lost against a concurrent one is followed by a write of the other row.
      if (!target || (target.isInserted && target.id !== id)) {
        checkWrite(before);
        target = { id, isInserted: before === undefined };
      }
      if (id === target.id) writtenBody = after;
    },
    toWrittenTag() {
      if ((ifMatch || ifNoneMatch) && !target) throw new Error(`conditional request without a write of ${table}`);
      return writtenBody === undefined ? undefined : `"${toVersion(writtenBody)}"`;
    },
    tagRepresentation(text) {
      if (readBody === undefined) return undefined;
      const version = toVersion(readBody);
      if (ifMatch && !matchesVersion(ifMatch, version)) throw problem.version_changed();
      return `"${version}${separator}${hash(text).slice(0, representationDigits)}"`;
    },
    isUnchanged: tag => ifNoneMatch === '*' || (ifNoneMatch?.some(({ opaque }) => `"${opaque}"` === tag) ?? false),
  };
}
