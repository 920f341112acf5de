import { createHash } from 'node:crypto';
import { ApiCompileError } from '../pipeline/step.ts';

/** Trusted documents of a definition by the SHA-256 of their text: clients send the hash, or the same text. */
export interface TrustedDocuments {
  /** `only`: every other document is refused. */
  readonly isRequired: boolean;
  find(hash: string): string | undefined;
  isTrusted(text: string): boolean;
}

const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Undefined where the definition has none. A hash that is not that of its text fails the API. */
export function createTrustedDocuments(
  mode: string,
  documents: Readonly<Record<string, string>>,
): TrustedDocuments | undefined {
  if (mode === '') return undefined;
  const byHash = new Map(Object.entries(documents).map(([hash, text]) => [hash.toLowerCase(), text]));
  for (const [hash, text] of byHash)
    if (hashText(text) !== hash) throw new ApiCompileError(`the trusted document ${hash} has another SHA-256`);
  const texts = new Set(byHash.values());
  return {
    isRequired: mode === 'only',
    find: hash => byHash.get(hash.toLowerCase()),
    isTrusted: text => texts.has(text),
  };
}

/** `documentId` (`sha256:…` or the hash alone), or the hash of automatic persisted queries. */
export function readDocumentHash(documentId: unknown, extensions: unknown): string | undefined {
  if (typeof documentId === 'string') return documentId.replace(/^sha256:/i, '');
  const persisted = (extensions as { persistedQuery?: { sha256Hash?: unknown } } | null | undefined)?.persistedQuery;
  return typeof persisted?.sha256Hash === 'string' ? persisted.sha256Hash : undefined;
}
