import { createHash, timingSafeEqual } from 'node:crypto';
import { parseKeyToken } from '#access/keys/ids.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusalResponse, refuse } from '../pipeline/refusals.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { compileVariables } from '../variables/variables.ts';
import { readQueryParameter } from './credential-sources.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

/** Signature validation of auth tokens: a hash of key, secret and Unix time. */
export type SignatureCheck = (call: Exchange, presented: string, known: CachedKey) => GatewayResponse | undefined;

const algorithms: Readonly<Record<string, string>> = { MasherySHA256: 'sha256', MasheryMD5: 'md5' };
/** Every second of skew costs two hashes per request. */
const maxSkewSeconds = 300;
const defaultStatus = 401;
const defaultMessage = 'Request signature verification failed';

export function createSignatureCheck(
  settings: Model['token'],
  services: Pick<AuthServices, 'clock' | 'settings' | 'secrets' | 'isContextName'>,
): SignatureCheck {
  const hash = algorithms[settings.signatureAlgorithm];
  if (hash === undefined) return call => refuse(call, 'signature_algorithm_unknown');
  if (settings.signatureSecret === '') throw new ApiCompileError('signature validation has no secret');
  const resolveSecret = compileVariables(settings.signatureSecret, services);
  const header = settings.signatureHeader.toLowerCase();
  const query = settings.signatureQueryName || (settings.signatureQueryEnabled ? settings.signatureHeader : '');
  const skew = Math.min(Math.max(settings.signatureClockSkewSeconds, 0), maxSkewSeconds);
  const status = settings.signatureErrorCode || defaultStatus;
  const message = settings.signatureErrorMessage || defaultMessage;

  function isValid(given: string, secret: string, keyIds: readonly string[]): boolean {
    // A key without the secret in its metadata cannot sign.
    if (secret === '' || !/^[0-9a-f]+$/i.test(given)) return false;
    const bytes = Buffer.from(given, 'hex');
    const now = Math.floor(services.clock.now() / 1000);
    let valid = false;
    for (const keyId of keyIds)
      for (let at = now - skew; at <= now + skew; at++) {
        const expected = createHash(hash!).update(`${keyId}${secret}${at}`).digest();
        valid = (expected.length === bytes.length && timingSafeEqual(expected, bytes)) || valid;
      }
    return valid;
  }

  return (call, presented, known) => {
    const inQuery = query === '' ? '' : readQueryParameter(call.query, query);
    const signature = inQuery || (header === '' ? undefined : call.headers.get(header)) || '';
    const secret = resolveSecret({ context: call.context, session: known.session });
    if (isValid(signature, secret, listSignedNames(presented, known))) return undefined;
    call.errorCode = 'signature_invalid';
    return refusalResponse(call, status, message);
  };
}

/** Forms of the key that clients may hash: without the organisation, the inner id, or the full key. */
function listSignedNames(presented: string, { keyId, session }: CachedKey): string[] {
  const names = [presented, keyId].flatMap(text => [
    text.startsWith(session.orgId) ? text.slice(session.orgId.length) : text,
    parseKeyToken(text)?.id ?? text,
    text,
  ]);
  return [...new Set(names)].filter(Boolean);
}
