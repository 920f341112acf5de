import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { outboundProblem } from './problems.ts';

export interface OutboundResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

type Received = Dispatcher.ResponseData;

type Decode = (body: Buffer, bound: { maxOutputLength: number }) => Promise<Buffer>;

const decoders = new Map<string, Decode>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
]);

/** Reads and decodes a whole response; `maxBytes` bounds the encoded and the decoded body. */
export async function readResponse(received: Received, host: string, maxBytes: number): Promise<OutboundResponse> {
  const { statusCode: status, headers } = received;
  const raw = await readBody(received, host, maxBytes);
  const decode = decoders.get(String(headers['content-encoding'] ?? '').toLowerCase());
  if (!decode || raw.length === 0) return { status, headers, body: raw };
  const body = await decode(raw, { maxOutputLength: maxBytes }).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ERR_BUFFER_TOO_LARGE') throw createTooLarge(host, maxBytes);
    throw outboundProblem.undecodable({ detail: { host }, cause });
  });
  const { 'content-encoding': _encoding, 'content-length': _length, ...rest } = headers;
  return { status, headers: rest, body };
}

async function readBody({ headers, body }: Received, host: string, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = Number(headers['content-length'] ?? 0) > maxBytes ? Number.POSITIVE_INFINITY : 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Throwing out of the loop destroys the stream and its connection.
    if (bytes > maxBytes) throw createTooLarge(host, maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const createTooLarge = (host: string, maxBytes: number) => outboundProblem.too_large({ detail: { host, maxBytes } });
