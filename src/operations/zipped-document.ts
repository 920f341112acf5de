import { posix } from 'node:path';
import { escapePointerToken } from '#base/json-pointer.ts';
import { isObject } from '#base/json-tree.ts';
import { openZip, type ZipArchive, zipProblem } from '#base/zip.ts';

/** OpenAPI documents of several files in a ZIP archive. */

const maxFiles = 500;
const mainName = /(?:^|\/)openapi\.(?:json|ya?ml)$/i;
/** Extension of the document that holds the other files, each by its path. */
const filesMember = 'x-files';

export interface ZippedDocumentOptions {
  readonly maxBytes: number;
  /** Values in all files together. */
  readonly maxValues: number;
  parse(bytes: Buffer, name: string, maxValues: number): unknown;
}

const createZipError = (reason: string) => zipProblem.malformed({ detail: { reason } });

/**
 * Bundles the files of an archive into one document: the main file, with every file that it references, also through
 * others, as a member of `x-files`, and references between files as references inside the document (RFC 6901, 6).
 */
export function readZippedDocument(bytes: Buffer, { maxBytes, maxValues, parse }: ZippedDocumentOptions): unknown {
  const archive = openZip(bytes, { maxFiles, maxTotalBytes: maxBytes });
  const main = findMain(archive);
  const files = new Map<string, unknown>();
  const pending = [main];
  const countReferenceText = createTextBound(maxBytes);
  let valuesLeft = maxValues;
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    const content = parse(archive.read(file)!, file, Math.max(1, valuesLeft));
    const rewrite = createReferences(archive, { main, file, found: name => void pending.push(name) });
    const { value, count } = rewriteReferences(content, reference => countReferenceText(rewrite(reference)));
    valuesLeft -= count;
    files.set(file, value);
  }
  const document = files.get(main);
  files.delete(main);
  if (!isObject(document) || files.size === 0) return document;
  if (filesMember in document)
    throw createZipError(`holds ${main} with ${filesMember}, which is the name for the other files`);
  return { ...document, [filesMember]: Object.fromEntries(files) };
}

/** Rewritten references are longer than those of the files: their text is bounded too. */
function createTextBound(maxTotalBytes: number) {
  let characters = 0;
  return (text: string): string => {
    characters += text.length;
    if (characters > maxTotalBytes) throw zipProblem.too_large({ detail: { maxTotalBytes } });
    return text;
  };
}

/** The main file: at the root, or the only one of its name. */
function findMain({ names }: ZipArchive): string {
  const found = names.filter(name => mainName.test(name) && !name.startsWith('__MACOSX/'));
  const atRoot = found.filter(name => !name.includes('/'));
  const [main, other] = atRoot.length > 0 ? atRoot : found;
  if (main === undefined) throw createZipError('holds no openapi.json and no openapi.yaml');
  if (other !== undefined) throw createZipError(`holds two main files, ${main} and ${other}`);
  return main;
}

interface ReferenceScope {
  readonly main: string;
  readonly file: string;
  found(name: string): void;
}

/** Rewrites a reference of one file; addresses of other hosts stay as they are. */
function createReferences({ names }: ZipArchive, { main, file, found }: ReferenceScope) {
  const known = new Set(names);
  return (reference: string): string => {
    if (/^(?:[a-z][a-z\d+.-]*:|\/)/i.test(reference)) return reference;
    const [path = '', fragment = ''] = reference.split('#', 2);
    const target = path === '' ? file : posix.join(posix.dirname(file), decodePath(path, file));
    if (!known.has(target)) throw createZipError(`lacks ${path}, which ${file} references`);
    if (target === main) return `#${fragment}`;
    if (fragment !== '' && !fragment.startsWith('/'))
      throw createZipError(`holds ${file} with ${reference}, which is not a JSON pointer`);
    found(target);
    return `#/${filesMember}/${encodeURIComponent(escapePointerToken(target))}${fragment}`;
  };
}

function decodePath(path: string, file: string): string {
  try {
    return decodeURIComponent(path);
  } catch (cause) {
    const reason = `holds ${file} with a reference that is not a URL`;
    throw zipProblem.malformed({ detail: { reason }, cause });
  }
}

function rewriteReferences(content: unknown, rewrite: (reference: string) => string) {
  let count = 0;
  const visit = (value: unknown): unknown => {
    count += 1;
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    const members = Object.entries(value).map(([name, member]) => [
      name,
      name === '$ref' && typeof member === 'string' ? rewrite(member) : visit(member),
    ]);
    return Object.fromEntries(members);
  };
  return { value: visit(content), count };
}
