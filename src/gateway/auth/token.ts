import type { GatewayResponse } from '../http/response.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { deny, isAuthenticated, providesSession, setIdentity } from './auth-result.ts';
import { parsePeerCertificate } from './certificate-cache.ts';
import { createCertificateAuth } from './certificate-token.ts';
import { readCredential, stripBearer, toCredentialSources } from './credential-sources.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';
import { createSignatureCheck, type SignatureCheck } from './token-signature.ts';

type Services = Pick<
  AuthServices,
  'certificates' | 'clock' | 'emitEvent' | 'isContextName' | 'keyCache' | 'secrets' | 'settings'
>;

const reads = {
  api: ['token'],
  also: { api: ['authMethods', 'authentication', 'clientCertificates'] },
} as const satisfies StepReads;

/** Auth token: the client sends a key. */
export const authTokenStep: Step<Services, typeof reads> = {
  name: 'token',
  reads,
  build(context) {
    const { model, services } = context;
    if (!model.authMethods.includes('token')) return undefined;
    const signature = model.token.signatureEnabled ? createSignatureCheck(model.token, services) : undefined;
    const authenticateToken = createTokenAuth(context, signature);
    if (!model.token.useCertificate)
      return { request: call => (isAuthenticated(call) ? undefined : authenticateToken(call)) };
    const authenticateCertificate = createCertificateAuth(context);
    const allowsToken = services.settings['keys.token_for_certificate'];
    const places = toCredentialSources(model.token);
    return {
      request(call) {
        if (isAuthenticated(call)) return undefined;
        return allowsToken && readCredential(places, call) !== ''
          ? authenticateToken(call)
          : authenticateCertificate(call);
      },
    };
  },
};

function createTokenAuth(
  { model, services }: StepContext<Services, typeof reads>,
  signature: SignatureCheck | undefined,
) {
  const { orgId } = model.identity;
  const places = toCredentialSources(model.token);
  const setsIdentity = providesSession(model, 'token');
  const minKeyChars = services.settings['keys.min_length'];
  const allowsWithoutCertificate = services.settings['keys.token_for_certificate'];
  const checksPins = model.clientCertificates.enabled;

  function checkKey(call: Exchange, given: string, known: CachedKey | undefined): StepResult {
    // A key with a password is a Basic user: its id alone does not authenticate.
    if (known?.kind !== 'token' || known.session.password)
      return deny(services, call, 'key_not_found', services.keyCache.hashOf(given));
    const refused = checkCertificate(call, known) ?? signature?.(call, given, known);
    if (!refused && setsIdentity) setIdentity(call, known, 'token');
    return refused;
  }

  /** Certificate binding: the client certificate must be one that the key is bound to. */
  function checkCertificate(call: Exchange, { session, keyHash }: CachedKey): GatewayResponse | undefined {
    const { certificate, boundCertificates } = session;
    const pins = checksPins ? boundCertificates : [];
    if (certificate === undefined && pins.length === 0) return undefined;
    const der = call.peer.certificate;
    if (der === undefined && allowsWithoutCertificate && pins.length === 0) return undefined;
    const peer = der && parsePeerCertificate(der);
    const isShown = (id: string) => id === peer?.fingerprint || id === `${orgId}${peer?.fingerprint}`;
    const fits = (certificate === undefined || isShown(certificate)) && (pins.length === 0 || pins.some(isShown));
    const now = services.clock.now();
    if (!peer || !fits || now < peer.validFromMs) return deny(services, call, 'cert_mismatch', keyHash);
    return now > peer.validUntilMs ? refuse(call, 'cert_expired') : undefined;
  }

  return (call: Exchange) => {
    const credential = stripBearer(readCredential(places, call));
    if (credential === '') return refuse(call, 'auth_field_missing');
    const key = credential.length < minKeyChars ? undefined : services.keyCache.find(orgId, credential);
    return key instanceof Promise
      ? key.then(known => checkKey(call, credential, known))
      : checkKey(call, credential, key);
  };
}
