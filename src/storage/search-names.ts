import type { Records } from './records.ts';
import { toSearchText } from './search-text.ts';

/** Kinds of objects whose names are in the search index; APIs and policies are searched in their own columns. */
export type SearchKind =
  | 'keys'
  | 'oauth_clients'
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

const maxShownCharacters = 500;

const truncateShown = (text: string) => text.toWellFormed().slice(0, maxShownCharacters).toWellFormed();

/** Replaces the index entry of an object; inside the transaction that writes it. */
export async function writeSearchEntry(
  records: Records,
  kind: SearchKind,
  { orgId, object }: { readonly orgId: string; readonly object: string },
  { names, label, detail = '' }: SearchEntry,
): Promise<void> {
  await removeSearchEntry(records, kind, object);
  await records.db
    .insertInto('search_names')
    .values({
      org_id: orgId,
      kind,
      text: toSearchText(names),
      object,
      label: truncateShown(label),
      detail: truncateShown(detail),
    })
    .execute();
}

/** Removes the index entry of an object; returns its label, empty without one. */
export async function removeSearchEntry(records: Records, kind: SearchKind, object: string): Promise<string> {
  const own = records.db.deleteFrom('search_names').where('kind', '=', kind).where('object', '=', object);
  return (await own.returning('label').executeTakeFirst())?.label ?? '';
}
