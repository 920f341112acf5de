import { type Vault, vaultProblem } from '#base/vault.ts';
import type { StoredApi } from './schema.ts';
import { mapApiSecrets } from './secrets.ts';

/**
 * Encryption at rest of the secrets of one API. A row stores the definition with a placeholder in place of each secret
 * and, in a member no definition has, one ciphertext of all secrets with their paths. Restoring goes by path, not by
 * the look of a text or the definition table: no text of an author is mistaken for a sealed one, and rows stay readable
 * when a later release marks other fields.
 */
export type ApiRow = StoredApi & { readonly sealed?: string };

/**
 * Reference to a secret that does not exist: a reader that ignores `sealed`, such as an earlier release, refuses to
 * serve the API instead of running it with an empty or well-known secret.
 */
export const sealedPlaceholder = 'secrets://sealed-in-the-database';

type SecretPath = readonly (string | number)[];
type SealedText = readonly [path: SecretPath, text: string];

/** Bound to the database id: the ciphertext of one row does not decrypt in another. */
const purposeOf = (id: string) => `api secrets/${id}`;

export function sealApiSecrets(vault: Vault, api: StoredApi): ApiRow {
  const { definition, wrapper } = mapApiSecrets(api, () => sealedPlaceholder);
  const texts: SealedText[] = [];
  collectReplaced(api.definition, definition, ['definition'], texts);
  collectReplaced(api.wrapper, wrapper, ['wrapper'], texts);
  if (texts.length === 0) return api;
  const sealed = vault.seal(JSON.stringify(texts), purposeOf(api.id));
  return { ...api, definition, wrapper, sealed } as ApiRow;
}

/** Restores the secrets into the row, in place. A row without sealed secrets is returned as it is. */
export function openApiSecrets(vault: Vault, row: ApiRow): StoredApi {
  const { sealed, ...api } = row;
  if (sealed === undefined) return row;
  const purpose = purposeOf(api.id);
  for (const [path, text] of JSON.parse(vault.open(sealed, purpose)) as SealedText[])
    if (!restoreSecretAt(api, path, text)) throw vaultProblem.cannot_open({ detail: { purpose } });
  return api as StoredApi;
}

/** Unchanged parts are identical objects in both trees, so only paths to secrets are walked. */
function collectReplaced(before: unknown, after: unknown, path: SecretPath, texts: SealedText[]): void {
  if (before === after) return;
  if (typeof before === 'string') texts.push([path, before]);
  else if (Array.isArray(before))
    before.forEach((item, at) => {
      collectReplaced(item, (after as unknown[])[at], [...path, at], texts);
    });
  else
    for (const [name, member] of Object.entries(before as object))
      collectReplaced(member, (after as Record<string, unknown>)[name], [...path, name], texts);
}

/** Returns false where the path does not lead to a placeholder. */
function restoreSecretAt(root: object, path: SecretPath, text: string): boolean {
  let at: unknown = root;
  for (const segment of path.slice(0, -1)) at = memberOf(at, segment);
  const last = path.at(-1)!;
  if (memberOf(at, last) !== sealedPlaceholder) return false;
  (at as Record<string | number, unknown>)[last] = text;
  return true;
}

const memberOf = (value: unknown, name: string | number): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string | number, unknown>)[name]
    : undefined;
