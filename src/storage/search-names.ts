import type { Records } from './records.ts';

/** Kinds of objects whose names are in the search index; APIs and policies are searched in their own columns. */
export type SearchKind =
  | 'keys'
  | 'certificates'
  | 'webhooks'
  | 'users'
  | 'user_groups'
  | 'templates'
  | 'identity_profiles';

/** Names by which an object is found, and what a result shows of it. Never a secret: they are stored in plain text. */
export interface SearchEntry {
  readonly names: readonly string[];
  readonly label: string;
  readonly detail?: string;
}

/** PostgreSQL bounds an index row to a third of a page. */
const maxTextBytes = 2000;
const maxShownCharacters = 500;

/** Folded names, one per line: no query holds a line break, so none matches across two names. */
export function toSearchText(names: readonly string[]): string {
  const lines = names.map(name => name.toLowerCase().replaceAll(/[\n\r]+/g, ' ')).filter(Boolean);
  const bytes = Buffer.from([...new Set(lines)].join('\n').toWellFormed());
  let end = Math.min(bytes.length, maxTextBytes);
  // Continuation bytes (RFC 3629, 3): a character is not cut in two.
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}

/** Replaces the index entry of an object; inside the transaction that writes it. */
export async function writeSearchEntry(
  records: Records,
  kind: SearchKind,
  { orgId, object }: { readonly orgId: string; readonly object: string },
  { names, label, detail = '' }: SearchEntry,
): Promise<void> {
  await removeSearchEntry(records, kind, object);
  const shown = (text: string) => text.toWellFormed().slice(0, maxShownCharacters).toWellFormed();
  await records.db
    .insertInto('search_names')
    .values({ org_id: orgId, kind, text: toSearchText(names), object, label: shown(label), detail: shown(detail) })
    .execute();
}

export async function removeSearchEntry(records: Records, kind: SearchKind, object: string): Promise<void> {
  await records.db.deleteFrom('search_names').where('kind', '=', kind).where('object', '=', object).execute();
}
