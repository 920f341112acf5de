import { readFileSync } from 'node:fs';
import { loadYaml } from '#base/lazy-packages.ts';
import { problem } from './problems.ts';

export type Document = Readonly<Record<string, unknown>>;

/** Bounds YAML alias expansion. */
const maxAliases = 100;

/** Reads a file, or standard input for `-`. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw problem.unreadable({ detail: { path, reason: (cause as NodeJS.ErrnoException).code }, cause });
  }
}

/** Parses JSON or YAML: one document, several separated by `---`, or a list. */
export function parseDocuments(text: string, path: string): Document[] {
  const parsed = loadYaml().parseAllDocuments(text);
  const read = Array.isArray(parsed) ? parsed : [];
  const error = read.flatMap(it => it.errors)[0];
  if (error) {
    // The parser's message quotes the line, which may contain a secret: only the line number is kept.
    const line = error.linePos?.[0].line;
    throw problem.not_documents({ detail: { path, where: line === undefined ? '' : ` (line ${line})` } });
  }
  const values = read.flatMap(it => it.toJS({ maxAliasCount: maxAliases }) as unknown).filter(it => it !== null);
  if (values.length === 0) throw problem.no_documents({ detail: { path } });
  return values.map((value, index) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Document;
    throw problem.not_object({ detail: { path, number: index + 1 } });
  });
}

const pemBlock = /-----BEGIN [A-Z0-9 ]+-----/;

/** PEM is sent unchanged: a chain and its key belong together. */
export function requirePem(text: string, path: string): string {
  if (!pemBlock.test(text)) throw problem.not_pem({ detail: { path } });
  return text;
}
