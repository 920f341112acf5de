/** A stored response (RFC 9111): whole, after all response steps, without the headers of a single request. */
export interface CacheEntry {
  readonly status: number;
  /** Names and values alternate. */
  readonly headers: readonly string[];
  readonly body: Buffer;
  readonly storedAtMs: number;
  /** The `Age` it had when it was received. */
  readonly ageSeconds: number;
  readonly expiresAtMs: number;
  /** Of a response that is cached by the rules of HTTP; `expiresAtMs` is then the end of its use, also when stale. */
  readonly http?: HttpFreshness;
}

/** Freshness by RFC 9111, section 4.2. */
export interface HttpFreshness {
  /** Corrected initial age (section 4.2.3). */
  readonly initialAgeMs: number;
  readonly lifetimeMs: number;
  /** `no-cache`: every use requires validation. */
  readonly requiresValidation: boolean;
  /** `must-revalidate` and the like: a stale response is not used. */
  readonly forbidsStale: boolean;
  readonly staleWhileRevalidateMs: number;
  readonly staleIfErrorMs: number;
}

/** Stored under the primary cache key where responses vary by request headers (RFC 9111, section 4.1). */
export interface VaryMarker {
  readonly varyNames: readonly string[];
  /** Part of the variants' keys: a new marker makes the old variants unreachable. */
  readonly variantId: string;
  readonly expiresAtMs: number;
}

export type StoredItem = CacheEntry | VaryMarker;

export const isVaryMarker = (item: StoredItem): item is VaryMarker => 'varyNames' in item;

/** Overhead of an object and its slot. */
const objectBytes = 400;
/** Overhead of a string. */
const textBytes = 16;

export function estimateBytes(item: StoredItem): number {
  const texts = isVaryMarker(item) ? item.varyNames : item.headers;
  let size = objectBytes + (isVaryMarker(item) ? 0 : item.body.length);
  for (const text of texts) size += text.length + textBytes;
  return size;
}

/** Changes with the format: items of another version are misses. */
const formatVersion = 3;
const lengthBytes = 4;

interface ItemHead {
  readonly version: number;
  readonly generation: string;
  readonly item: Omit<CacheEntry, 'body'> | VaryMarker;
}

/** Binary form: the length of the head, the head as JSON, the body. */
export function encodeItem(item: StoredItem, generation: string): Buffer {
  const { body, ...rest } = isVaryMarker(item) ? { ...item, body: Buffer.alloc(0) } : item;
  const head = Buffer.from(JSON.stringify({ version: formatVersion, generation, item: rest } satisfies ItemHead));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, body]);
}

/** Undefined for items of another generation or format version, and for malformed bytes. */
export function decodeItem(bytes: Buffer, generation: string): StoredItem | undefined {
  if (bytes.length < lengthBytes) return undefined;
  const start = lengthBytes + bytes.readUInt32BE();
  try {
    const head: ItemHead = JSON.parse(bytes.toString('utf8', lengthBytes, start));
    if (head.version !== formatVersion || head.generation !== generation) return undefined;
    return 'varyNames' in head.item ? head.item : { ...head.item, body: bytes.subarray(start) };
  } catch {
    // Malformed: a miss.
    return undefined;
  }
}
