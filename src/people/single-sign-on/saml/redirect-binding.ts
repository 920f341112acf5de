import { constants, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { SignOnRefusal } from '../problems.ts';

/** HTTP-Redirect binding (SAML 2.0 Bindings, section 3.4): deflated messages in queries, signed outside of the XML. */
export type MessageName = 'SAMLRequest' | 'SAMLResponse';

export interface OutgoingMessage {
  readonly name: MessageName;
  readonly xml: string;
  readonly relayState: string;
  readonly privateKey: KeyObject;
}

const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const hashes = new Map([
  [rsaSha256, 'sha256'],
  ['http://www.w3.org/2001/04/xmldsig-more#rsa-sha512', 'sha512'],
]);
const deflateEncoding = 'urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:DEFLATE';
/** Decompression bomb: bytes of one message. */
const maxInflatedBytes = 65_536;

/** URL of a provider with a signed message. */
export function buildSignedUrl(endpoint: string, { name, xml, relayState, privateKey }: OutgoingMessage): string {
  const members = [
    [name, deflateRawSync(xml).toString('base64')],
    ...(relayState === '' ? [] : [['RelayState', relayState]]),
    ['SigAlg', rsaSha256],
  ];
  const signed = members.map(([key, value]) => `${key}=${encodeURIComponent(value!)}`).join('&');
  const signature = sign('sha256', Buffer.from(signed), privateKey).toString('base64');
  return `${endpoint}${endpoint.includes('?') ? '&' : '?'}${signed}&Signature=${encodeURIComponent(signature)}`;
}

/** Members of a query as they were sent: the signature covers their encoding. */
function splitQuery(query: string): Map<string, string> {
  const members = new Map<string, string>();
  for (const pair of query.split('&')) {
    const place = pair.indexOf('=');
    const name = place < 0 ? pair : pair.slice(0, place);
    if (members.has(name)) throw new SignOnRefusal('query has a repeated member');
    members.set(name, place < 0 ? '' : pair.slice(place + 1));
  }
  return members;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (error) {
    if (error instanceof URIError) throw new SignOnRefusal('query is malformed');
    throw error;
  }
}

/** Message of a query whose signature one of the certificates verifies. */
export function readSignedQuery(query: string, name: MessageName, certificates: readonly string[]) {
  const members = splitQuery(query);
  const read = (member: string) => decode(members.get(member) ?? '');
  const hash = hashes.get(read('SigAlg'));
  if (read('Signature') === '') throw new SignOnRefusal('signature missing');
  if (!hash) throw new SignOnRefusal('signature algorithm refused');
  if (members.has('SAMLEncoding') && read('SAMLEncoding') !== deflateEncoding)
    throw new SignOnRefusal('SAMLEncoding refused');
  const signed = [name, 'RelayState', 'SigAlg']
    .filter(member => members.has(member))
    .map(member => `${member}=${members.get(member)}`)
    .join('&');
  const signature = Buffer.from(read('Signature'), 'base64');
  const isVerified = certificates.some(pem => verifiesWith(pem, hash, signed, signature));
  if (!isVerified) throw new SignOnRefusal('signature invalid');
  return { xml: inflate(read(name)), relayState: read('RelayState') };
}

/** Key confusion: the algorithm names RSA, so that a key of another type verifies nothing. */
function verifiesWith(pem: string, hash: string, signed: string, signature: Buffer): boolean {
  const { publicKey } = new X509Certificate(pem);
  if (publicKey.asymmetricKeyType !== 'rsa') return false;
  return verify(hash, Buffer.from(signed), { key: publicKey, padding: constants.RSA_PKCS1_PADDING }, signature);
}

function inflate(text: string): string {
  try {
    return inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: maxInflatedBytes }).toString('utf8');
  } catch (cause) {
    throw new SignOnRefusal(`message cannot be inflated to ${maxInflatedBytes} bytes`, { cause });
  }
}
