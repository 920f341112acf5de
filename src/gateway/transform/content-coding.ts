import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import type { Settings } from '#base/settings.ts';
import { problem } from '../http/body.ts';

type Unpack = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

const deflated = promisify(inflate) as Unpack;
const raw = promisify(inflateRaw) as Unpack;

const codings: Readonly<Record<string, Unpack>> = {
  gzip: promisify(gunzip) as Unpack,
  'x-gzip': promisify(gunzip) as Unpack,
  br: promisify(brotliDecompress) as Unpack,
  // Some senders leave the wrapping away that the name stands for.
  deflate: (bytes, options) => deflated(bytes, options).catch(error => retried(error, bytes, options)),
};

/** The codings that are read here, as a caller would ask for them. */
export const readCodings = 'gzip, deflate, br';
/** Nobody packs a body more often than this, but to make somebody unpack it. */
const mostCodings = 3;

/** The body is packed in a way that cannot be undone. */
export class Packed extends Error {}

export const isPacked = (coding: string | undefined): coding is string =>
  coding !== undefined && coding.trim() !== '' && coding.trim().toLowerCase() !== 'identity';

/** Below this the ratio does not count: small texts that repeat themselves pack well. */
const minRatioBytes = 1_048_576;

export interface UnpackBounds {
  readonly maxBytes: number;
  /** Decompression ratio: unpacked bytes for each packed one. */
  readonly maxRatio: number;
  readonly minRatioBytes?: number;
}

export const unpackBounds = (settings: Settings): UnpackBounds => ({
  maxBytes: settings['gateway.held_body_bytes'],
  maxRatio: settings['gateway.unpack_ratio'],
});

/** Decodes `Content-Encoding` (RFC 9110 section 8.4); inflating stops at the first byte beyond a bound. */
export async function unpack(bytes: Buffer, coding: string, bounds: UnpackBounds): Promise<Buffer> {
  const maxByRatio = Math.max(bounds.minRatioBytes ?? minRatioBytes, bytes.length * bounds.maxRatio);
  const maxOutputLength = Math.min(bounds.maxBytes, maxByRatio);
  const names = coding
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity');
  if (names.length > mostCodings) throw new Packed(`packed more than ${mostCodings} times`);
  let plain = bytes;
  for (const name of names.reverse()) {
    const inflateOne = codings[name];
    if (!inflateOne) throw new Packed(`the coding ${JSON.stringify(name.slice(0, 50))} is not known`);
    if (plain.length > 0) plain = await inflateOne(plain, { maxOutputLength }).catch(refused);
  }
  return plain;
}

const isTooLarge = (error: unknown) => (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';

function retried(error: unknown, bytes: InputType, options: ZlibOptions): Promise<Buffer> {
  if (isTooLarge(error)) throw error;
  return raw(bytes, options);
}

function refused(error: unknown): never {
  if (isTooLarge(error)) throw problem.too_large();
  throw new Packed('the body is not packed as it says');
}
