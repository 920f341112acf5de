import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { CborError, type CborMap, decodeCbor } from './cbor.ts';
import { constantTimeEqual } from './constant-time.ts';
import { problems } from './problems.ts';

/**
 * Passkey ceremonies of a relying party (Web Authentication Level 3, 7.1 and 7.2): the checks that need no stored state.
 * Attestation is not requested, and attestation statements are not evaluated.
 */
export interface RelyingParty {
  /** Domain that passkeys belong to. */
  readonly id: string;
  /** Origins of pages that may use them. */
  readonly origins: readonly string[];
}

export const webauthnProblem = problems('webauthn', {
  malformed: { status: 400, message: 'credential: the response of the authenticator is malformed: {reason}' },
  rejected: { status: 400, message: 'credential: the response of the authenticator is rejected: {reason}' },
});

const createRejection = (reason: string) => webauthnProblem.rejected({ detail: { reason } });
const createMalformedError = (reason: string, cause?: unknown) =>
  webauthnProblem.malformed({ detail: { reason }, cause });

/** Public key as a JSON Web Key (RFC 7517). */
export type PublicJwk = Readonly<Partial<Record<'kty' | 'crv' | 'x' | 'y' | 'n' | 'e', string>>>;

/** Public key of a passkey, with its COSE algorithm (RFC 9053). */
export interface PasskeyKey {
  readonly algorithm: number;
  readonly jwk: PublicJwk;
}

/** COSE algorithms in order of preference, with the digest of their signatures: EdDSA, ES256, RS256. */
const algorithms = new Map<number, string | null>([
  [-8, null],
  [-7, 'sha256'],
  [-257, 'sha256'],
]);
export const passkeyAlgorithms: readonly number[] = [...algorithms.keys()];

export interface RegistrationResponse {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly attestationObject: string;
}

export interface Registration {
  readonly challenge: string;
  /** Base64url. */
  readonly credentialId: string;
  readonly key: PasskeyKey;
  readonly signCount: number;
  readonly isBackedUp: boolean;
}

export interface AssertionResponse {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  readonly userHandle: string;
}

export interface Assertion {
  readonly challenge: string;
  readonly credentialId: string;
  /** Base64url. */
  readonly userHandle: string;
  readonly signCount: number;
  readonly isBackedUp: boolean;
  isSignedBy(key: PasskeyKey): boolean;
}

/** Checks a registration (7.1) up to what the caller has to look up: its challenge and whether the credential is known. */
export function readRegistration(response: RegistrationResponse, party: RelyingParty): Registration {
  const clientData = decode(response.clientDataJSON);
  const challenge = readClientData(clientData, 'webauthn.create', party);
  const { value } = decodeMap(decode(response.attestationObject), 0);
  const bytes = value.get('authData');
  if (!Buffer.isBuffer(bytes)) throw createMalformedError('it has no authData');
  const data = readAuthenticatorData(bytes, party);
  if (!data.credential) throw createMalformedError('it has no credential');
  const credentialId = data.credential.id.toString('base64url');
  if (credentialId !== normalize(response.id)) throw createMalformedError('its id is not that of the credential');
  const { signCount, isBackedUp } = data;
  return { challenge, credentialId, key: data.credential.key, signCount, isBackedUp };
}

/** Checks an assertion (7.2) up to what the caller has to look up: challenge, credential, its key and counter. */
export function readAssertion(response: AssertionResponse, party: RelyingParty): Assertion {
  const clientData = decode(response.clientDataJSON);
  const challenge = readClientData(clientData, 'webauthn.get', party);
  const authenticatorData = decode(response.authenticatorData);
  const { signCount, isBackedUp } = readAuthenticatorData(authenticatorData, party);
  const signed = Buffer.concat([authenticatorData, createHash('sha256').update(clientData).digest()]);
  const signature = decode(response.signature);
  return {
    challenge,
    credentialId: normalize(response.id),
    userHandle: normalize(response.userHandle),
    signCount,
    isBackedUp,
    isSignedBy: key => verify(algorithms.get(key.algorithm), signed, importKey(key), signature),
  };
}

const decode = (text: string): Buffer => Buffer.from(text, 'base64url');
/** One text for one value: the last character may encode bits that belong to no byte. */
const normalize = (text: string): string => decode(text).toString('base64url');

const importKey = ({ jwk }: PasskeyKey): KeyObject => createPublicKey({ key: jwk, format: 'jwk' });

/** Checks the client data (5.8.1), which the browser writes and the page cannot change; returns the challenge. */
function readClientData(bytes: Buffer, type: string, { origins }: RelyingParty): string {
  let data: Partial<Record<'type' | 'challenge' | 'origin' | 'crossOrigin' | 'topOrigin', unknown>>;
  try {
    data = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) ?? {};
  } catch (cause) {
    throw createMalformedError('its client data are not JSON', cause);
  }
  if (data.type !== type) throw createRejection(`its type is not ${type}`);
  if (typeof data.challenge !== 'string') throw createMalformedError('it has no challenge');
  if (typeof data.origin !== 'string' || !origins.includes(data.origin))
    throw createRejection(`its origin is not ${origins.join(' or ')}`);
  if (data.crossOrigin === true || data.topOrigin !== undefined)
    throw createRejection('it comes from a frame of another site');
  return data.challenge;
}

const flagBits = { userPresent: 1, userVerified: 4, backupEligible: 8, backedUp: 16, credential: 64, extensions: 128 };
const rpIdHashBytes = 32;
const headBytes = 37;
const aaguidBytes = 16;
const maxCredentialIdBytes = 1023;

interface AuthenticatorData {
  readonly signCount: number;
  readonly isBackedUp: boolean;
  readonly credential?: { readonly id: Buffer; readonly key: PasskeyKey };
}

/** Parses and checks authenticator data (6.1): relying party, presence and verification of the user. */
function readAuthenticatorData(bytes: Buffer, { id }: RelyingParty): AuthenticatorData {
  if (bytes.length < headBytes) throw createMalformedError('its authenticator data are truncated');
  const flags = bytes[rpIdHashBytes]!;
  const has = (bit: number) => (flags & bit) !== 0;
  const rpIdHash = createHash('sha256').update(id).digest('hex');
  if (!constantTimeEqual(bytes.toString('hex', 0, rpIdHashBytes), rpIdHash))
    throw createRejection(`it is not for the relying party ${id}`);
  if (!has(flagBits.userPresent)) throw createRejection('the user was not present');
  if (!has(flagBits.userVerified)) throw createRejection('the user was not verified');
  if (has(flagBits.backedUp) && !has(flagBits.backupEligible))
    throw createMalformedError('its backup flags contradict');
  const head = { signCount: bytes.readUInt32BE(rpIdHashBytes + 1), isBackedUp: has(flagBits.backedUp) };
  const attested = has(flagBits.credential) ? readCredential(bytes, headBytes) : undefined;
  let end = attested?.end ?? headBytes;
  if (has(flagBits.extensions)) end = decodeMap(bytes, end).end;
  if (end !== bytes.length) throw createMalformedError('its authenticator data have surplus bytes');
  return attested ? { ...head, credential: attested } : head;
}

/** Attested credential data (6.5.1). */
function readCredential(bytes: Buffer, start: number) {
  const idStart = start + aaguidBytes + 2;
  if (bytes.length < idStart) throw createMalformedError('its credential is truncated');
  const length = bytes.readUInt16BE(idStart - 2);
  const id = bytes.subarray(idStart, idStart + length);
  if (length === 0 || length > maxCredentialIdBytes || id.length < length)
    throw createMalformedError('the id of its credential has a wrong length');
  const { value, end } = decodeMap(bytes, idStart + length);
  return { id, key: toPasskeyKey(value), end };
}

function decodeMap(bytes: Buffer, start: number): { readonly value: CborMap; readonly end: number } {
  try {
    const { value, end } = decodeCbor(bytes, start);
    if (value instanceof Map) return { value, end };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    throw createMalformedError(error.message, error);
  }
  throw createMalformedError('it is no map');
}

const coordinateBytes = 32;
const minRsaBytes = 256;
const maxRsaBytes = 512;
const maxExponentBytes = 4;
/** Labels of COSE keys (RFC 9053, 7; RFC 8230, 4). */
const label = { type: 1, algorithm: 3, curve: -1, x: -2, y: -3, modulus: -1, exponent: -2 };

/** Converts a COSE key; one that is not on its curve is rejected. */
function toPasskeyKey(cose: CborMap): PasskeyKey {
  const jwk = toJwk(cose);
  if (!jwk) throw createRejection('its public key has an unsupported algorithm');
  const key = { algorithm: cose.get(label.algorithm) as number, jwk };
  try {
    importKey(key);
  } catch (cause) {
    throw createMalformedError('its public key is invalid', cause);
  }
  return key;
}

function toJwk(cose: CborMap): PublicJwk | undefined {
  const read = (name: number, minBytes: number, maxBytes: number) => {
    const value = cose.get(name);
    if (!Buffer.isBuffer(value) || value.length < minBytes || value.length > maxBytes)
      throw createMalformedError('its public key has a member of a wrong length');
    return value.toString('base64url');
  };
  const coordinate = (name: number) => read(name, coordinateBytes, coordinateBytes);
  const isOf = (algorithm: number, type: number, curve?: number) =>
    cose.get(label.algorithm) === algorithm &&
    cose.get(label.type) === type &&
    (curve === undefined || cose.get(label.curve) === curve);
  if (isOf(-7, 2, 1)) return { kty: 'EC', crv: 'P-256', x: coordinate(label.x), y: coordinate(label.y) };
  if (isOf(-8, 1, 6)) return { kty: 'OKP', crv: 'Ed25519', x: coordinate(label.x) };
  if (!isOf(-257, 3)) return undefined;
  const n = read(label.modulus, minRsaBytes, maxRsaBytes);
  return { kty: 'RSA', n, e: read(label.exponent, 1, maxExponentBytes) };
}
