import { crc32, inflateRawSync } from 'node:zlib';
import { problems } from './problems.ts';

/** Reader of ZIP archives in memory (PKWARE APPNOTE 6.3): stored and deflated files, without encryption and ZIP64. */
export interface ZipArchive {
  /** Paths of all files, relative to the root of the archive. */
  readonly names: readonly string[];
  /** Content of a file; undefined where the archive has none of this name. */
  read(name: string): Buffer | undefined;
}

export interface ZipBounds {
  readonly maxFiles: number;
  /** Sum of the decompressed sizes of all files. */
  readonly maxTotalBytes: number;
}

export const zipProblem = problems('zip', {
  malformed: { status: 400, message: 'Request body malformed: the ZIP archive {reason}' },
  too_large: { status: 413, message: 'The ZIP archive holds more than {maxTotalBytes} bytes' },
});

const maxNameBytes = 512;

const createZipError = (reason: string) => zipProblem.malformed({ detail: { reason } });

interface Entry {
  readonly name: string;
  readonly method: number;
  readonly crc: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly headerAt: number;
}

const endSignature = 0x06054b50;
const endBytes = 22;
const maxCommentBytes = 0xffff;
const entrySignature = 0x02014b50;
const entryBytes = 46;
const localSignature = 0x04034b50;
const localBytes = 30;
const [stored, deflated] = [0, 8];
const encryptedFlag = 1;
/** File type of a Unix mode, in the upper half of the external attributes. */
const fileTypeMask = 0o170000;
const linkType = 0o120000;
const refusedSegments = new Set(['.', '..', '__proto__']);

export const isZip = (bytes: Buffer): boolean => bytes.length >= endBytes && bytes.readUInt32LE(0) === localSignature;

export function openZip(bytes: Buffer, { maxFiles, maxTotalBytes }: ZipBounds): ZipArchive {
  const { count, start, end } = findDirectory(bytes);
  if (count > maxFiles) throw createZipError(`holds more than ${maxFiles} files`);
  const files = new Map<string, Entry>();
  let at = start;
  for (let read = 0; read < count; read++) {
    const { entry, next } = readEntry(bytes, at, end);
    at = next;
    if (entry.name.endsWith('/')) continue;
    if (files.has(entry.name)) throw createZipError(`holds ${entry.name} twice`);
    files.set(entry.name, entry);
  }
  const totalBytes = [...files.values()].reduce((sum, entry) => sum + entry.bytes, 0);
  if (totalBytes > maxTotalBytes) throw zipProblem.too_large({ detail: { maxTotalBytes } });
  const contents = locateContents(bytes, [...files.values()], start);
  return {
    names: [...files.keys()],
    read(name) {
      const entry = files.get(name);
      return entry && decompress(entry, contents.get(name)!);
    },
  };
}

/** End of central directory record (4.3.16), behind which a comment may follow. */
function findDirectory(bytes: Buffer): { count: number; start: number; end: number } {
  const lowest = Math.max(0, bytes.length - endBytes - maxCommentBytes);
  for (let at = bytes.length - endBytes; at >= lowest; at--) {
    if (bytes.readUInt32LE(at) !== endSignature || at + endBytes + bytes.readUInt16LE(at + 20) !== bytes.length)
      continue;
    const [disk, count] = [bytes.readUInt32LE(at + 4), bytes.readUInt16LE(at + 10)];
    const [size, start] = [bytes.readUInt32LE(at + 12), bytes.readUInt32LE(at + 16)];
    if (disk !== 0 || count !== bytes.readUInt16LE(at + 8)) throw createZipError('is one part of several');
    if (start + size > at) throw createZipError('is truncated, or in the ZIP64 format');
    return { count, start, end: start + size };
  }
  throw createZipError('is truncated');
}

function readEntry(bytes: Buffer, at: number, end: number): { entry: Entry; next: number } {
  if (at + entryBytes > end || bytes.readUInt32LE(at) !== entrySignature)
    throw createZipError('has a broken directory');
  const [flags, method, crc] = [bytes.readUInt16LE(at + 8), bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 16)];
  const [compressedBytes, size] = [bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)];
  const nameEnd = at + entryBytes + bytes.readUInt16LE(at + 28);
  const next = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  if (next > end) throw createZipError('has a broken directory');
  const name = checkName(bytes.subarray(at + entryBytes, nameEnd));
  if (((bytes.readUInt32LE(at + 38) >>> 16) & fileTypeMask) === linkType)
    throw createZipError(`holds ${name} as a link`);
  if ((flags & encryptedFlag) !== 0) throw createZipError(`holds ${name} encrypted`);
  if (method !== stored && method !== deflated) throw createZipError(`holds ${name} in an unsupported compression`);
  return { entry: { name, method, crc, compressedBytes, bytes: size, headerAt: bytes.readUInt32LE(at + 42) }, next };
}

/** Names are relative paths below the root; nothing is written to disk, but references are resolved against them. */
function checkName(raw: Buffer): string {
  if (raw.length > maxNameBytes) throw createZipError(`holds a name of more than ${maxNameBytes} bytes`);
  const name = raw.toString('utf8');
  const segments = name.split('/');
  if (
    name === '' ||
    /[\\\0:]/.test(name) ||
    segments[0] === '' ||
    segments.some(segment => refusedSegments.has(segment))
  )
    throw createZipError('holds a file outside of its root');
  return name;
}

/** Compressed bytes of every file. Overlapping ones are refused: they multiply the size of an archive without bound. */
function locateContents(bytes: Buffer, entries: readonly Entry[], directoryAt: number): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  let free = 0;
  for (const { name, headerAt, compressedBytes } of entries.toSorted((a, b) => a.headerAt - b.headerAt)) {
    if (headerAt < free || headerAt + localBytes > directoryAt || bytes.readUInt32LE(headerAt) !== localSignature)
      throw createZipError(`has no content for ${name}`);
    const start = headerAt + localBytes + bytes.readUInt16LE(headerAt + 26) + bytes.readUInt16LE(headerAt + 28);
    free = start + compressedBytes;
    if (free > directoryAt) throw createZipError(`has no content for ${name}`);
    contents.set(name, bytes.subarray(start, free));
  }
  return contents;
}

/** The declared size bounds the output, and is part of the checked total. */
function decompress({ name, method, crc, bytes }: Entry, content: Buffer): Buffer {
  const output = method === stored ? content : inflate(content, bytes, name);
  if (output.length !== bytes || crc32(output) !== crc) throw createZipError(`holds ${name} damaged`);
  return output;
}

function inflate(content: Buffer, maxOutputLength: number, name: string): Buffer {
  try {
    return inflateRawSync(content, { maxOutputLength: Math.max(1, maxOutputLength) });
  } catch (cause) {
    throw zipProblem.malformed({ detail: { reason: `holds ${name} damaged` }, cause });
  }
}
