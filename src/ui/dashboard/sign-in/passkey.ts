import { callServer, toBodyOf } from '../../kit/calls.ts';
import { texts } from '../../texts/texts.ts';
import type { CurrentUser } from '../session/session.ts';

/** An IP address is no domain, which a passkey belongs to (Web Authentication Level 3, section 5.1.3). */
export const isAtIpAddress = (): boolean => /^(?:\d+(?:\.\d+){3}|\[.*\])$/.test(location.hostname);

/** Passkeys need a domain, a secure context and a browser with the JSON forms of WebAuthn Level 3. */
export const canUsePasskeys = (): boolean =>
  !isAtIpAddress() &&
  isSecureContext &&
  'PublicKeyCredential' in globalThis &&
  'parseRequestOptionsFromJSON' in PublicKeyCredential;

export async function requestPasskeySession(): Promise<CurrentUser> {
  const { value: challenge } = await callServer('POST /api/session/passkey/challenge', { body: {} });
  const { publicKey: options } = challenge as unknown as { publicKey: PublicKeyCredentialRequestOptionsJSON };
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error(texts.signIn.passkeyFailed);
  const body = toBodyOf<'POST /api/session/passkey'>({ credential: credential.toJSON() });
  return (await callServer('POST /api/session/passkey', { body })).value as CurrentUser;
}
