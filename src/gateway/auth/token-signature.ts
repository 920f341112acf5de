import { createHash, timingSafeEqual } from 'node:crypto';
import { parseKeyToken } from '#access/keys/ids.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refusalAnswer, refuse } from '../pipeline/refusals.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { variables } from '../variables/variables.ts';
import { queryValue } from './credential-sources.ts';
import type { KnownKey } from './key-cache.ts';

/** A signature beside the key: the hash of key, secret and time, made anew every second. */
export type SignatureCheck = (call: Exchange, presented: string, known: KnownKey) => GatewayResponse | undefined;

const algorithms: Readonly<Record<string, string>> = { MasherySHA256: 'sha256', MasheryMD5: 'md5' };
/** Every second of tolerance is two hashes on every call. */
const mostSkewSeconds = 300;
const defaultStatus = 401;
const defaultMessage = 'Request signature verification failed';

export function signatureCheck(
  asked: Model['token'],
  services: Pick<StepServices, 'clock' | 'settings' | 'secrets' | 'isContextName'>,
): SignatureCheck {
  const hash = algorithms[asked.signatureAlgorithm];
  if (hash === undefined) return call => refuse(call, 'signature_algorithm_unknown');
  if (asked.signatureSecret === '') throw new ApiCompileError('signature validation has no secret');
  const secretOf = variables(asked.signatureSecret, services);
  const header = asked.signatureHeader.toLowerCase();
  const query = asked.signatureQueryName || (asked.signatureQueryEnabled ? asked.signatureHeader : '');
  const skew = Math.min(Math.max(asked.signatureClockSkewSeconds, 0), mostSkewSeconds);
  const status = asked.signatureErrorCode || defaultStatus;
  const message = asked.signatureErrorMessage || defaultMessage;

  function isValid(given: string, secret: string, keyIds: readonly string[]): boolean {
    // A key without the metadata that its secret is in has none: nothing is signed with that.
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
    const inQuery = query === '' ? '' : queryValue(call.query, query);
    const given = inQuery || (header === '' ? undefined : call.headers.get(header)) || '';
    const secret = secretOf({ context: call.context, session: known.session });
    if (isValid(given, secret, namesOf(presented, known))) return undefined;
    call.errorCode = 'signature_invalid';
    return refusalAnswer(call, status, message);
  };
}

/** What the caller may have put into the hash: the key without its organisation, the id inside it, or all of it. */
function namesOf(presented: string, { keyId, session }: KnownKey): string[] {
  const names = [presented, keyId].flatMap(text => [
    text.startsWith(session.orgId) ? text.slice(session.orgId.length) : text,
    parseKeyToken(text)?.id ?? text,
    text,
  ]);
  return [...new Set(names)].filter(Boolean);
}
