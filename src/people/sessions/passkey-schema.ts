import { z } from 'zod';
import { formatIsoTime } from '#base/clock.ts';
import { freeForm } from '#base/members.ts';
import { type AssertionResponse, passkeyAlgorithms, type RegistrationResponse } from '#base/webauthn.ts';
import { challengeTtlMs } from './passkey-challenges.ts';
import type { StoredPasskey } from './passkey-store.ts';

/** Bounds of what authenticators send, in bytes. */
const maxCredentialIdBytes = 1023;
const maxUserHandleBytes = 64;
const maxClientDataBytes = 4096;
const maxAttestationBytes = 16_384;
const maxAuthenticatorDataBytes = 4096;
const maxSignatureBytes = 1024;

const base64url = (maxBytes: number) =>
  z
    .string()
    .min(1)
    .max(Math.ceil((maxBytes * 4) / 3))
    .regex(/^[\w-]+$/, 'must be base64url');

const clientDataJSON = base64url(maxClientDataBytes);
/** Free-form: browsers add members in later versions. */
const createCredential = <const Shape extends z.ZodRawShape>(response: Shape) =>
  freeForm(
    z.object({
      id: base64url(maxCredentialIdBytes),
      type: z.literal('public-key'),
      response: freeForm(z.object({ clientDataJSON, ...response })),
    }),
  );

/** `PublicKeyCredential.toJSON()` of a registration (Web Authentication Level 3, 5.1). */
export const RegistrationCredential = createCredential({
  attestationObject: base64url(maxAttestationBytes),
  transports: z.array(z.string().max(32)).max(8).optional(),
});

/** `PublicKeyCredential.toJSON()` of a sign-in. */
export const AssertionCredential = createCredential({
  authenticatorData: base64url(maxAuthenticatorDataBytes),
  signature: base64url(maxSignatureBytes),
  userHandle: base64url(maxUserHandleBytes),
});

export const toRegistrationResponse = ({
  id,
  response,
}: z.output<typeof RegistrationCredential>): RegistrationResponse => ({
  id,
  clientDataJSON: response.clientDataJSON,
  attestationObject: response.attestationObject,
});

export const toAssertionResponse = ({ id, response }: z.output<typeof AssertionCredential>): AssertionResponse => ({
  id,
  clientDataJSON: response.clientDataJSON,
  authenticatorData: response.authenticatorData,
  signature: response.signature,
  userHandle: response.userHandle,
});

export const passkeyName = z.string().trim().min(1).max(100);

export const Passkey = z.object({
  id: z.string(),
  name: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
  backed_up: z.boolean().describe('Stored by a password manager on several devices'),
});
export type Passkey = z.output<typeof Passkey>;

export const toPasskey = ({ id, name, createdAtMs, usedAtMs, isBackedUp }: StoredPasskey): Passkey => ({
  id,
  name,
  created_at: formatIsoTime(createdAtMs),
  last_used_at: usedAtMs === 0 ? null : formatIsoTime(usedAtMs),
  backed_up: isBackedUp,
});

const descriptor = z.object({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) });

/** `PublicKeyCredentialCreationOptionsJSON`. */
export const CreationOptions = z.object({
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
  timeout: z.int().describe('Milliseconds'),
  excludeCredentials: z.array(descriptor),
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
  attestation: z.literal('none'),
});

/** `PublicKeyCredentialRequestOptionsJSON`. */
export const RequestOptions = z.object({
  challenge: z.string(),
  rpId: z.string(),
  timeout: z.int().describe('Milliseconds'),
  userVerification: z.literal('required'),
});

/** Id of a user in authenticators. */
export const toUserHandle = (userId: string): string => Buffer.from(userId, 'utf8').toString('base64url');

export const fixedCreationOptions = {
  pubKeyCredParams: passkeyAlgorithms.map(alg => ({ type: 'public-key' as const, alg })),
  timeout: challengeTtlMs,
  authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  attestation: 'none',
} as const;
