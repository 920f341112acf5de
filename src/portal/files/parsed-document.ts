import { createHash } from 'node:crypto';
import { isObject } from '#base/json-tree.ts';
import { Lru } from '#base/lru.ts';
import { type FileContent, parseDocumentText } from '#operations/body.ts';
import { buildReference, type DocumentReference } from './api-reference.ts';

/** Larger documents are offered for download only: their pages would take the listener too long. */
const maxShownBytes = 4 * 1024 * 1024;
/** Parsed documents by the hash of their content. */
const parsed = new Lru<string, DocumentReference | null>(8);

/** The reference of an OpenAPI document; undefined for another document, or one that is too large. */
export function parseProductDocument({ bytes }: Pick<FileContent, 'bytes'>): DocumentReference | undefined {
  if (bytes.length > maxShownBytes) return undefined;
  const digest = createHash('sha256').update(bytes).digest('base64');
  const known = parsed.get(digest);
  if (known !== undefined) return known ?? undefined;
  const document = parseDocumentText(bytes.toString('utf8'), maxShownBytes);
  const reference = isObject(document) && !('asyncapi' in document) ? buildReference(document) : undefined;
  parsed.set(digest, reference ?? null);
  return reference;
}
