import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { problem } from './problems.ts';

export type Document = Readonly<Record<string, unknown>>;

/** More than the gateway itself takes in one call. */
const maxAliases = 100;

/** A file, or what is piped in where it is called `-`. */
export function readText(path: string): string {
  try {
    return readFileSync(path === '-' ? 0 : path, 'utf8');
  } catch (cause) {
    throw problem.unreadable({ detail: { path, reason: (cause as NodeJS.ErrnoException).code }, cause });
  }
}

/** The documents of a text in JSON or YAML: one, several divided by `---`, or a list of them. */
export function parseDocuments(text: string, path: string): Document[] {
  const parsed = parseAllDocuments(text);
  const read = Array.isArray(parsed) ? parsed : [];
  const error = read.flatMap(it => it.errors)[0];
  if (error) {
    // The reader's own message repeats the line, and with it a secret: keep the place only.
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

/** A text of PEM, which goes as it is: a chain and its key belong together. */
export function requirePem(text: string, path: string): string {
  if (!pemBlock.test(text)) throw problem.not_pem({ detail: { path } });
  return text;
}
