import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession } from './auth-result.ts';
import type { KnownCertificate } from './certificates.ts';
import { credentialIn, placesOf } from './credential-sources.ts';
import { dateOf, type HttpSignature, readSignature, signedText } from './http-signature.ts';
import type { KnownKey } from './key-cache.ts';

const hashes: Readonly<Record<string, string>> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};
const byCertificate = 'rsa-sha256';

/** Callers sign their calls. */
export const hmac: Step = {
  name: 'hmac',
  build(context) {
    const { model, services } = context;
    if (!model.modes.includes('hmac')) return undefined;
    const places = placesOf(model.hmac);
    const { allowedAlgorithms, allowedClockSkewMs } = model.hmac;
    const { orgId } = model.identity;
    const judge = judging(context);
    const refused = (call: Exchange, keyId = '') =>
      deny(services, call, 'hmac_refused', keyId && services.keyCache.hashOf(keyId));

    function isTimely(call: Exchange, { headers }: HttpSignature): boolean {
      const date = dateOf(call);
      if (date === undefined) return false;
      if (allowedClockSkewMs <= 0) return true;
      // A date that is not signed could be written anew by whoever repeats the call.
      return headers.some(isDate) && Math.abs(services.clock.now() - date) <= allowedClockSkewMs;
    }

    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const signed = readSignature(credentialIn(places, call));
        if (!signed) return refused(call);
        const { algorithm, keyId } = signed;
        const allowed = allowedAlgorithms.length === 0 || allowedAlgorithms.includes(algorithm);
        const supported = algorithm === byCertificate || Object.hasOwn(hashes, algorithm);
        if (!allowed || !supported || !isTimely(call, signed)) return refused(call, keyId);
        const found = services.keyCache.find(orgId, keyId);
        return found instanceof Promise ? found.then(known => judge(call, signed, known)) : judge(call, signed, found);
      },
    };
  },
};

const isDate = (name: string) => name === 'date' || name === 'x-aux-date';

function judging({ model, services }: StepContext) {
  const { orgId } = model.identity;
  const gives = givesSession(model, 'hmac');

  function settled(call: Exchange, { keyId }: HttpSignature, known: KnownKey | undefined, right: boolean): StepResult {
    if (!known || !right) return deny(services, call, 'hmac_refused', services.keyCache.hashOf(keyId));
    if (gives) adopt(call, known, 'hmac');
    return undefined;
  }

  function certified(call: Exchange, signed: HttpSignature, known: KnownKey, found: KnownCertificate | undefined) {
    const key = found ? publicKeyOf(found) : refuse(call, 'signature_certificate_missing');
    if (key === undefined) return refuse(call, 'signature_certificate_not_rsa');
    if (isAnswer(key)) return key;
    const right = verify('sha256', Buffer.from(signedText(call, signed.headers)), key, bytesOf(signed));
    return settled(call, signed, known, right);
  }

  return (call: Exchange, signed: HttpSignature, known: KnownKey | undefined): MaybePromise<StepResult> => {
    if (signed.algorithm !== byCertificate) return settled(call, signed, known, isSigned(call, signed, known));
    const id = known?.session.signatureCertificate;
    if (!known || id === undefined) return settled(call, signed, known, false);
    const found = services.certificates.find(orgId, id);
    return found instanceof Promise
      ? found.then(certificate => certified(call, signed, known, certificate))
      : certified(call, signed, known, found);
  };
}

const isAnswer = (response: KeyObject | GatewayResponse): response is GatewayResponse => 'status' in response;

const bytesOf = ({ signature }: HttpSignature) => Buffer.from(signature, 'base64');

/** An unknown key costs a signature as well. */
function isSigned(call: Exchange, signed: HttpSignature, known: KnownKey | undefined): boolean {
  const secret = known?.session.hmacSecret;
  const expected = createHmac(hashes[signed.algorithm]!, secret ?? 'nobody')
    .update(signedText(call, signed.headers))
    .digest();
  const given = bytesOf(signed);
  return given.length === expected.length && timingSafeEqual(given, expected) && secret !== undefined;
}

const publicKeys = new WeakMap<KnownCertificate, KeyObject>();

/** Undefined for a certificate of another kind. */
function publicKeyOf(certificate: KnownCertificate): KeyObject | undefined {
  const known = publicKeys.get(certificate);
  const key = known ?? certificate.x509?.publicKey ?? createPublicKey(certificate.pem);
  if (!known) publicKeys.set(certificate, key);
  return key.asymmetricKeyType === 'rsa' ? key : undefined;
}
