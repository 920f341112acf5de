import { createHmac, type KeyObject, sign } from 'node:crypto';
import { type Clock, formatHttpDate } from '#base/clock.ts';
import { HeaderList } from '../http/headers.ts';

/** Adds a signature to headers that go upstream, a flat list; what is signed is what is sent. */
export type Signer = (headers: string[], method: string, path: string) => void;

export interface SignerRules {
  readonly keyId: string;
  readonly algorithm: string;
  /** Lower-case; those that are not there are left out. Empty: all of them. */
  readonly headers: readonly string[];
  readonly signatureHeader: string;
  /** A shared secret, or the private key of a certificate. */
  readonly key: string | KeyObject;
}

/** Algorithms with a shared secret. */
export const sharedSecretHashes: ReadonlyMap<string, string> = new Map([
  ['hmac-sha1', 'sha1'],
  ['hmac-sha256', 'sha256'],
  ['hmac-sha384', 'sha384'],
  ['hmac-sha512', 'sha512'],
]);
export const byCertificate = 'rsa-sha256';

const target = '(request-target)';
const auxiliaryDate = 'x-aux-date';

export function signerOf(rules: SignerRules, clock: Clock): Signer {
  const { keyId, algorithm, headers: wanted, signatureHeader } = rules;
  const signature = signatureOf(rules);
  const own = signatureHeader.toLowerCase();
  return (flat, method, path) => {
    const headers = new HeaderList(flat);
    headers.remove(own);
    if (!headers.has('date')) headers.append('Date', formatHttpDate(clock.now()));
    const values = valuesOf(flat);
    const names = chosen(wanted, values);
    const text = names.map(name => lineOf(name, values, method, path)).join('\n');
    headers.set(
      signatureHeader,
      `Signature keyId="${keyId}",algorithm="${algorithm}",headers="${names.join(' ')}",signature="${signature(text)}"`,
    );
  };
}

function chosen(wanted: readonly string[], values: ReadonlyMap<string, string>): readonly string[] {
  if (wanted.length === 0) return [target, ...values.keys()];
  const there = wanted.filter(name => name === target || values.has(name));
  return there.length > 0 ? there : [target, 'date'];
}

/** By lower-case name; several of one name are one, in their order. */
function valuesOf(flat: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]!.toLowerCase();
    const before = values.get(name);
    values.set(name, before === undefined ? flat[at + 1]!.trim() : `${before}, ${flat[at + 1]!.trim()}`);
  }
  return values;
}

function lineOf(name: string, values: ReadonlyMap<string, string>, method: string, path: string): string {
  if (name === target) return `${target}: ${method.toLowerCase()} ${path}`;
  const said = name === 'date' && values.has(auxiliaryDate) ? auxiliaryDate : name;
  return `${said}: ${values.get(said)}`;
}

function signatureOf({ algorithm, key }: SignerRules): (text: string) => string {
  if (typeof key !== 'string') return text => sign('sha256', Buffer.from(text), key).toString('base64');
  const hash = sharedSecretHashes.get(algorithm)!;
  return text => encodeURIComponent(createHmac(hash, key).update(text).digest('base64'));
}
