import { createHmac, type KeyObject, sign } from 'node:crypto';
import { type Clock, formatHttpDate } from '#base/clock.ts';
import { HeaderList } from '../http/headers.ts';
import type { RequestSigner } from '../pipeline/exchange.ts';

export interface SignerOptions {
  readonly keyId: string;
  readonly algorithm: string;
  /** Lower-case; missing headers are left out. Empty: all headers. */
  readonly headers: readonly string[];
  readonly signatureHeader: string;
  /** Shared secret, or private key of a certificate. */
  readonly key: string | KeyObject;
}

/** HMAC algorithms. */
export const sharedSecretHashes: ReadonlyMap<string, string> = new Map([
  ['hmac-sha1', 'sha1'],
  ['hmac-sha256', 'sha256'],
  ['hmac-sha384', 'sha384'],
  ['hmac-sha512', 'sha512'],
]);
export const certificateAlgorithm = 'rsa-sha256';

const requestTarget = '(request-target)';
const auxiliaryDate = 'x-aux-date';

export function createSigner(options: SignerOptions, clock: Clock): RequestSigner {
  const { keyId, algorithm, headers: configured, signatureHeader } = options;
  const sign64 = createSignFunction(options);
  const signatureName = signatureHeader.toLowerCase();
  return (flat, method, path) => {
    const headers = new HeaderList(flat);
    headers.remove(signatureName);
    if (!headers.has('date')) headers.append('Date', formatHttpDate(clock.now()));
    const values = joinValues(flat);
    const names = selectNames(configured, values);
    const text = names.map(name => formatLine(name, values, method, path)).join('\n');
    headers.set(
      signatureHeader,
      `Signature keyId="${keyId}",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${sign64(text)}"`,
    );
  };
}

function selectNames(configured: readonly string[], values: ReadonlyMap<string, string>): readonly string[] {
  if (configured.length === 0) return [requestTarget, ...values.keys()];
  const present = configured.filter(name => name === requestTarget || values.has(name));
  return present.length > 0 ? present : [requestTarget, 'date'];
}

/** Values by lower-case name; repeated headers are joined in order. */
function joinValues(flat: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i]!.toLowerCase();
    const before = values.get(name);
    values.set(name, before === undefined ? flat[i + 1]!.trim() : `${before}, ${flat[i + 1]!.trim()}`);
  }
  return values;
}

function formatLine(name: string, values: ReadonlyMap<string, string>, method: string, path: string): string {
  if (name === requestTarget) return `${requestTarget}: ${method.toLowerCase()} ${path}`;
  const source = name === 'date' && values.has(auxiliaryDate) ? auxiliaryDate : name;
  return `${source}: ${values.get(source)}`;
}

function createSignFunction({ algorithm, key }: SignerOptions): (text: string) => string {
  if (typeof key !== 'string') return text => sign('sha256', Buffer.from(text), key).toString('base64');
  const hash = sharedSecretHashes.get(algorithm)!;
  return text => encodeURIComponent(createHmac(hash, key).update(text).digest('base64'));
}
