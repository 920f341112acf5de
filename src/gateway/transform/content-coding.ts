import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import type { Settings } from '#base/settings.ts';
import { problem } from '../http/body.ts';

type Decompress = (bytes: InputType, options: ZlibOptions) => Promise<Buffer>;

const inflateZlib = promisify(inflate) as Decompress;
const inflateUnwrapped = promisify(inflateRaw) as Decompress;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: promisify(gunzip) as Decompress,
  'x-gzip': promisify(gunzip) as Decompress,
  br: promisify(brotliDecompress) as Decompress,
  // Some servers send raw deflate without the zlib wrapper.
  deflate: (bytes, options) => inflateZlib(bytes, options).catch(error => retryUnwrapped(error, bytes, options)),
};

/** Supported codings, as an Accept-Encoding value. */
export const supportedCodings = 'gzip, deflate, br';
/** More layers are a decompression attack. */
const maxCodings = 3;

/** Content-Encoding that cannot be decoded. */
export class ContentCodingError extends Error {}

export const isEncoded = (coding: string | undefined): coding is string =>
  coding !== undefined && coding.trim() !== '' && coding.trim().toLowerCase() !== 'identity';

/** Outputs below this are exempt from the ratio: small repetitive texts compress well. */
const minRatioBytes = 1_048_576;

export interface DecompressionBounds {
  readonly maxBytes: number;
  /** Decompression ratio: output bytes per input byte. */
  readonly maxRatio: number;
  readonly minRatioBytes?: number;
}

export const decompressionBounds = (settings: Settings): DecompressionBounds => ({
  maxBytes: settings['gateway.max_buffered_body_bytes'],
  maxRatio: settings['gateway.max_decompression_ratio'],
});

/** Decodes `Content-Encoding` (RFC 9110 section 8.4); inflating stops at the first byte beyond a bound. */
export async function decodeContent(bytes: Buffer, coding: string, bounds: DecompressionBounds): Promise<Buffer> {
  const maxByRatio = Math.max(bounds.minRatioBytes ?? minRatioBytes, bytes.length * bounds.maxRatio);
  const maxOutputLength = Math.min(bounds.maxBytes, maxByRatio);
  const names = coding
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity');
  if (names.length > maxCodings) throw new ContentCodingError(`more than ${maxCodings} content codings`);
  let decoded = bytes;
  for (const name of names.reverse()) {
    const decompress = decoders[name];
    if (!decompress)
      throw new ContentCodingError(`the content coding ${JSON.stringify(name.slice(0, 50))} is not supported`);
    if (decoded.length > 0) decoded = await decompress(decoded, { maxOutputLength }).catch(throwCodingError);
  }
  return decoded;
}

const isTooLarge = (error: unknown) => (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';

function retryUnwrapped(error: unknown, bytes: InputType, options: ZlibOptions): Promise<Buffer> {
  if (isTooLarge(error)) throw error;
  return inflateUnwrapped(bytes, options);
}

function throwCodingError(error: unknown): never {
  if (isTooLarge(error)) throw problem.too_large();
  throw new ContentCodingError('the body does not match its Content-Encoding');
}
