import { promisify } from 'node:util';
import { brotliDecompress, gunzip, type InputType, inflate, inflateRaw, type ZlibOptions } from 'node:zlib';
import { problem } from '../body.ts';

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

/** Undoes `Content-Encoding`. What would be larger than `most` bytes is a body that is too large. */
export async function unpacked(bytes: Buffer, coding: string, most: number): Promise<Buffer> {
  const names = coding
    .toLowerCase()
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '' && name !== 'identity');
  if (names.length > mostCodings) throw new Packed(`packed more than ${mostCodings} times`);
  let plain = bytes;
  for (const name of names.reverse()) {
    const unpack = codings[name];
    if (!unpack) throw new Packed(`the coding ${JSON.stringify(name.slice(0, 50))} is not known`);
    if (plain.length > 0) plain = await unpack(plain, { maxOutputLength: most }).catch(refused);
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
