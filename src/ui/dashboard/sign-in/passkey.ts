import { callServer, toBodyOf } from '../../kit/calls.ts';
import { texts } from '../../texts/texts.ts';
import type { CurrentUser } from '../session/session.ts';

/** Passkeys need a secure context and a browser with the JSON forms of WebAuthn Level 3. */
export const canUsePasskeys = (): boolean =>
  isSecureContext && 'PublicKeyCredential' in globalThis && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

export async function requestPasskeySession(): Promise<CurrentUser> {
  const { value: challenge } = await callServer('POST /api/session/passkey/challenge', { body: {} });
  const { publicKey: options } = challenge as unknown as { publicKey: PublicKeyCredentialRequestOptionsJSON };
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await navigator.credentials.get({ publicKey });
  if (!(credential instanceof PublicKeyCredential)) throw new Error(texts.signIn.passkeyFailed);
  const body = toBodyOf<'POST /api/session/passkey'>({ credential: credential.toJSON() });
  return (await callServer('POST /api/session/passkey', { body })).value as CurrentUser;
}
