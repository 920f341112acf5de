import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Tokens made by hand, so that they can be made wrong. */
export type Algorithm = 'HS256' | 'HS512' | 'RS256' | 'PS256' | 'ES256' | 'ES384' | 'EdDSA' | 'none';

export const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export interface Minted {
  alg?: Algorithm;
  header?: object;
  /** In place of the claims: the JSON itself. */
  raw?: string;
}

/** A token signed by a key, or by the text of a shared secret. */
export function mint(
  claims: object,
  key: KeyObject | string,
  { alg = 'RS256', header = {}, raw }: Minted = {},
): string {
  const input = `${part({ alg, typ: 'JWT', ...header })}.${part(raw ?? claims)}`;
  return `${input}.${signature(alg, input, key)}`;
}

export function signature(alg: Algorithm, input: string, key: KeyObject | string): string {
  if (alg === 'none') return '';
  const bits = alg.slice(2);
  if (alg.startsWith('HS')) return createHmac(`sha${bits}`, key).update(input).digest('base64url');
  const bytes = Buffer.from(input);
  if (alg === 'EdDSA') return sign(null, bytes, key as KeyObject).toString('base64url');
  const options =
    alg === 'PS256'
      ? { key: key as KeyObject, padding: 6, saltLength: 32 }
      : { key: key as KeyObject, dsaEncoding: 'ieee-p1363' as const };
  return sign(`sha${bits}`, bytes, options).toString('base64url');
}

export const rsaPair = (modulusLength = 2048) => generateKeyPairSync('rsa', { modulusLength });
export const ecPair = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve });
export const edPair = () => generateKeyPairSync('ed25519');
export const pemOf = (key: KeyObject) => key.export({ format: 'pem', type: 'spki' }).toString();
export const jwkOf = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: 'jwk' }), ...more });

/** HTTP server with the pages that a test sets, and a record of its requests. */
export async function startPublisher() {
  const publisher = {
    url: '',
    asked: [] as string[],
    bodies: [] as { method: string; headers: Record<string, unknown>; body: string }[],
    /** By path; other paths get 503. */
    pages: {} as Record<string, unknown>,
    /** Responds 503 to every request. */
    isUnavailable: false,
    close: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer(async (request, response) => {
    const path = request.url!;
    publisher.asked.push(path);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    publisher.bodies.push({ method: request.method!, headers: request.headers, body });
    const page = Object.hasOwn(publisher.pages, path) ? publisher.pages[path] : undefined;
    const value = typeof page === 'function' ? await page(body) : page;
    if (publisher.isUnavailable || value === undefined) return response.writeHead(503).end();
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  publisher.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return publisher;
}

export type Publisher = Awaited<ReturnType<typeof startPublisher>>;
