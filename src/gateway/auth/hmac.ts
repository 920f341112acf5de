import { createHmac, createPublicKey, type KeyObject, timingSafeEqual, verify } from 'node:crypto';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { deny, providesSession, setIdentity } from './auth-result.ts';
import type { StoredCertificate } from './certificate-cache.ts';
import { readCredential, toCredentialSources } from './credential-sources.ts';
import { buildSigningString, type HttpSignature, parseSignatureHeader, readSignatureDate } from './http-signature.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';

const hashes: Readonly<Record<string, string>> = {
  'hmac-sha1': 'sha1',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};
const rsaAlgorithm = 'rsa-sha256';

type Services = Pick<AuthServices, 'certificates' | 'clock' | 'emitEvent' | 'keyCache'>;

const reads = { api: ['hmac'], also: { api: ['authMethods', 'authentication'] } } as const satisfies StepReads;

/** HTTP signatures: HMAC or RSA over request headers (draft-cavage-http-signatures). */
export const hmacStep: Step<Services, typeof reads> = {
  name: 'hmac',
  reads,
  build(context) {
    const { model, services } = context;
    if (!model.authMethods.includes('hmac')) return undefined;
    const places = toCredentialSources(model.hmac);
    const { allowedAlgorithms, allowedClockSkewMs } = model.hmac;
    const { orgId } = model.identity;
    const verifySignature = createSignatureVerifier(context);
    const reject = (call: Exchange, keyId = '') =>
      deny(services, call, 'hmac_refused', keyId && services.keyCache.hashOf(keyId));

    function isWithinSkew(call: Exchange, { headers }: HttpSignature): boolean {
      const date = readSignatureDate(call);
      if (date === undefined) return false;
      if (allowedClockSkewMs <= 0) return true;
      // An unsigned date could be changed in a replay.
      return headers.some(isDateHeader) && Math.abs(services.clock.now() - date) <= allowedClockSkewMs;
    }

    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const signed = parseSignatureHeader(readCredential(places, call));
        if (!signed) return reject(call);
        const { algorithm, keyId } = signed;
        const allowed = allowedAlgorithms.length === 0 || allowedAlgorithms.includes(algorithm);
        const supported = algorithm === rsaAlgorithm || Object.hasOwn(hashes, algorithm);
        if (!allowed || !supported || !isWithinSkew(call, signed)) return reject(call, keyId);
        const key = services.keyCache.find(orgId, keyId);
        return key instanceof Promise
          ? key.then(known => verifySignature(call, signed, known))
          : verifySignature(call, signed, key);
      },
    };
  },
};

const isDateHeader = (name: string) => name === 'date' || name === 'x-aux-date';

function createSignatureVerifier({ model, services }: StepContext<Services, typeof reads>) {
  const { orgId } = model.identity;
  const setsIdentity = providesSession(model, 'hmac');

  function finish(call: Exchange, { keyId }: HttpSignature, known: CachedKey | undefined, right: boolean): StepResult {
    if (!known || !right) return deny(services, call, 'hmac_refused', services.keyCache.hashOf(keyId));
    if (setsIdentity) setIdentity(call, known, 'hmac');
    return undefined;
  }

  function verifyRsa(call: Exchange, signed: HttpSignature, known: CachedKey, found: StoredCertificate | undefined) {
    const key = found ? getPublicKey(found) : refuse(call, 'signature_certificate_missing');
    if (key === undefined) return refuse(call, 'signature_certificate_not_rsa');
    if (isResponse(key)) return key;
    const right = verify('sha256', Buffer.from(buildSigningString(call, signed.headers)), key, decodeSignature(signed));
    return finish(call, signed, known, right);
  }

  return (call: Exchange, signed: HttpSignature, known: CachedKey | undefined): MaybePromise<StepResult> => {
    if (signed.algorithm !== rsaAlgorithm) return finish(call, signed, known, isHmacValid(call, signed, known));
    const id = known?.session.signatureCertificate;
    if (!known || id === undefined) return finish(call, signed, known, false);
    const certificate = services.certificates.find(orgId, id);
    return certificate instanceof Promise
      ? certificate.then(certificate => verifyRsa(call, signed, known, certificate))
      : verifyRsa(call, signed, known, certificate);
  };
}

const isResponse = (response: KeyObject | GatewayResponse): response is GatewayResponse => 'status' in response;

const decodeSignature = ({ signature }: HttpSignature) => Buffer.from(signature, 'base64');

/** Constant work: an unknown key costs a signature as well. */
function isHmacValid(call: Exchange, signed: HttpSignature, known: CachedKey | undefined): boolean {
  const secret = known?.session.hmacSecret;
  const expected = createHmac(hashes[signed.algorithm]!, secret ?? 'no key')
    .update(buildSigningString(call, signed.headers))
    .digest();
  const signature = decodeSignature(signed);
  return signature.length === expected.length && timingSafeEqual(signature, expected) && secret !== undefined;
}

const publicKeys = new WeakMap<StoredCertificate, KeyObject>();

/** Undefined for a key that is not RSA. */
function getPublicKey(certificate: StoredCertificate): KeyObject | undefined {
  const cached = publicKeys.get(certificate);
  const key = cached ?? certificate.x509?.publicKey ?? createPublicKey(certificate.pem);
  if (!cached) publicKeys.set(certificate, key);
  return key.asymmetricKeyType === 'rsa' ? key : undefined;
}
