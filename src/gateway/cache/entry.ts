/** An answer as it is kept: after every step on the way out, whole, and without what belongs to one call. */
export interface CacheEntry {
  readonly status: number;
  /** A flat list. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly storedAtMs: number;
  /** How old it was already when it came. */
  readonly ageSeconds: number;
  readonly expiresAtMs: number;
}

/** Stands in place of answers that differ by headers of the call, and says by which. */
export interface VaryMarker {
  readonly varies: readonly string[];
  /** Part of the names of those answers: a new signpost leads to none of the old ones. */
  readonly mark: string;
  readonly expiresAtMs: number;
}

export type StoredItem = CacheEntry | VaryMarker;

export const isVaryMarker = (kept: StoredItem): kept is VaryMarker => 'varies' in kept;

/** What an object and its place in a list take besides what it holds. */
const objectBytes = 400;

/** Roughly what it takes of memory. */
export function estimateBytes(kept: StoredItem): number {
  const texts = isVaryMarker(kept) ? kept.varies : kept.headers;
  let size = objectBytes + (isVaryMarker(kept) ? 0 : kept.body.length);
  for (const text of texts) size += text.length + 16;
  return size;
}

/** Another form is another number: a program that does not know it finds nothing. */
const form = 1;
const lengthBytes = 4;

interface ItemHead {
  readonly form: number;
  readonly era: string;
  readonly kept: Omit<CacheEntry, 'body'> | VaryMarker;
}

/** As it travels: the length of the head, the head as JSON, the body. */
export function encodeItem(kept: StoredItem, era: string): Buffer {
  const { body, ...rest } = isVaryMarker(kept) ? { ...kept, body: Buffer.alloc(0) } : kept;
  const head = Buffer.from(JSON.stringify({ form, era, kept: rest } satisfies ItemHead));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, body]);
}

/** Undefined for what was written in another era, by another program, or by nobody who knows how. */
export function decodeItem(bytes: Buffer, era: string): StoredItem | undefined {
  if (bytes.length < lengthBytes) return undefined;
  const start = lengthBytes + bytes.readUInt32BE();
  try {
    const head: ItemHead = JSON.parse(bytes.toString('utf8', lengthBytes, start));
    if (head.form !== form || head.era !== era) return undefined;
    return 'varies' in head.kept ? head.kept : { ...head.kept, body: bytes.subarray(start) };
  } catch {
    // Not ours: as good as nothing.
    return undefined;
  }
}
