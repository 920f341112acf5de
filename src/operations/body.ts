import type { Readable } from 'node:stream';
import type { Json } from '#base/json.ts';
import { createDuplicateMemberProblem, problem as jsonProblem, parseUniqueJson, rejectNul } from '#base/json.ts';
import { isYamlType, parseMediaType } from '#base/media-type.ts';
import { Problem } from '#base/problems.ts';
import { parseYaml } from '#base/yaml.ts';
import { isZip } from '#base/zip.ts';
import type { BodyKind } from './operation.ts';
import { problem } from './problems.ts';
import { readZippedDocument } from './zipped-document.ts';

/** Uploaded file. */
export interface Upload {
  readonly name: string;
  readonly bytes: Buffer;
}

/** File of a response, in place of JSON. */
export interface FileContent {
  readonly mediaType: string;
  readonly bytes: Buffer;
}

/** File of an operation with `streamsFile`. */
export interface StreamedFile {
  readonly mediaType: string;
  readonly name: string;
  readonly stream: Readable;
}

/** Rejects an unsupported media type by the head, before the body is read. */
export function checkMediaType(kind: BodyKind, contentType: string | undefined): void {
  if (typeof kind !== 'object' || kind.only.includes(parseMediaType(contentType))) return;
  throw problem.wrong_type({ detail: { accepted: kind.only.join(' or ') } });
}

/** Bounds the number of values: real documents average more bytes per value; denser ones are an attack. */
const minBytesPerValue = 20;

export interface ReadOptions {
  readonly contentType: string | undefined;
  /** Configured maximum, not the size of this body. */
  readonly maxBytes: number;
}

export async function readBody(
  kind: BodyKind,
  bytes: Buffer,
  { contentType, maxBytes }: ReadOptions,
): Promise<unknown> {
  if (kind === 'text') return decodeText(bytes);
  if (kind === 'form') return parseForm(decodeText(bytes));
  if (kind === 'upload') return parseUpload(bytes, contentType);
  const maxValues = Math.ceil(maxBytes / minBytesPerValue);
  if (kind !== 'json' && parseMediaType(contentType) === formType)
    return parseUploadedDocument(await parseUpload(bytes, contentType), { maxBytes, maxValues });
  if (kind !== 'document') return parseUniqueJson(decodeText(bytes), maxValues);
  if (isZip(bytes)) return parseArchive(bytes, { maxBytes, maxValues });
  return parseDocument(decodeText(bytes), parseMediaType(contentType), maxValues);
}

interface DocumentBounds {
  readonly maxBytes: number;
  readonly maxValues: number;
}

/** One document from the files of a ZIP archive; their names decide between JSON and YAML. */
const parseArchive = (bytes: Buffer, bounds: DocumentBounds): unknown =>
  readZippedDocument(bytes, {
    ...bounds,
    parse: (file, name, maxValues) =>
      (name.endsWith('.json') ? parseUniqueJson : parseYaml)(decodeText(file), maxValues),
  });

/** Parses by media type; where that is neither JSON nor YAML, the first character decides. */
function parseDocument(text: string, type: string, maxValues: number): unknown {
  if (isYamlType(type)) return parseYaml(text, maxValues);
  if (!isJson(type)) return parseEither(text, maxValues);
  try {
    return parseUniqueJson(text, maxValues);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== jsonProblem.malformed.code || startsAsJson(text)) throw error;
    throw jsonProblem.malformed({
      detail: { reason: 'it is not JSON; send YAML with Content-Type: application/yaml' },
    });
  }
}

/** JSON documents begin with a brace or a bracket; block YAML begins with neither. */
const startsAsJson = (text: string) => /^\s*[[{]/.test(text);
const parseEither = (text: string, maxValues: number) =>
  (startsAsJson(text) ? parseUniqueJson : parseYaml)(text, maxValues);

/** Parses a JSON or YAML document that a body holds as text, with the bounds of a body. */
export const parseDocumentText = (text: string, maxBytes: number): unknown =>
  parseEither(text.replace(/^\uFEFF/, ''), Math.ceil(maxBytes / minBytesPerValue));

const isJson = (type: string) => /^application\/([\w.-]+\+)?json$/.test(type);

const formType = 'multipart/form-data';

function parseUploadedDocument(file: Upload | undefined, bounds: DocumentBounds): unknown {
  if (!file) throw problem.invalid({ detail: { faults: 'Request body malformed: the form holds no file' } });
  if (isZip(file.bytes)) return parseArchive(file.bytes, bounds);
  return parseEither(decodeText(file.bytes), bounds.maxValues);
}

export function decodeText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw problem.invalid({ detail: { faults: 'Request body malformed: it is not UTF-8 text' }, cause });
  }
}

function parseForm(text: string): Json {
  const form: { [name: string]: Json } = {};
  for (const [name, value] of new URLSearchParams(text)) {
    rejectNul(value);
    if (Object.hasOwn(form, name)) throw createDuplicateMemberProblem([name]);
    if (name !== '__proto__') form[name] = value;
  }
  return form;
}

async function parseUpload(bytes: Buffer, contentType: string | undefined): Promise<Upload | undefined> {
  if (bytes.length === 0) return undefined;
  if (parseMediaType(contentType) !== formType) return { name: '', bytes };
  let form: FormData;
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType! } }).formData();
  } catch (cause) {
    throw problem.invalid({ detail: { faults: 'Request body malformed: it is not a multipart form' }, cause });
  }
  const [file, further] = [...form.values()].filter(value => typeof value !== 'string');
  if (further) throw problem.invalid({ detail: { faults: 'Request body malformed: the form holds two files' } });
  return file && { name: file.name, bytes: Buffer.from(await file.arrayBuffer()) };
}
