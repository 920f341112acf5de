import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession, isKnown } from './auth-result.ts';
import { certificateToken } from './certificate-token.ts';
import { shownCertificate } from './certificates.ts';
import { credentialIn, placesOf, withoutBearer } from './credential-sources.ts';
import type { KnownKey } from './key-cache.ts';
import { type SignatureCheck, signatureCheck } from './token-signature.ts';

/** Callers send a key. */
export const token: Step = {
  name: 'token',
  build(context) {
    const { model, services } = context;
    if (!model.modes.includes('token')) return undefined;
    const signature = model.token.signatureEnabled ? signatureCheck(model.token, services) : undefined;
    const byText = textToken(context, signature);
    if (!model.token.useCertificate) return { request: call => (isKnown(call) ? undefined : byText(call)) };
    const byCertificate = certificateToken(context);
    const eitherDoes = services.settings['keys.token_for_certificate'];
    const places = placesOf(model.token);
    return {
      request(call) {
        if (isKnown(call)) return undefined;
        return eitherDoes && credentialIn(places, call) !== '' ? byText(call) : byCertificate(call);
      },
    };
  },
};

function textToken({ model, services }: StepContext, signature: SignatureCheck | undefined) {
  const { orgId } = model.identity;
  const places = placesOf(model.token);
  const gives = givesSession(model, 'token');
  const leastLength = services.settings['keys.min_length'];
  const unbound = services.settings['keys.token_for_certificate'];
  const pinned = model.clientCertificates.enabled;

  function admitted(call: Exchange, given: string, known: KnownKey | undefined): StepResult {
    // The id of a user with a password is the user's name: it opens nothing without the password.
    if (known?.kind !== 'token' || known.session.password)
      return deny(services, call, 'key_not_found', services.keyCache.hashOf(given));
    const refused = boundElsewhere(call, known) ?? signature?.(call, given, known);
    if (!refused && gives) adopt(call, known, 'token');
    return refused;
  }

  /** A key bound to certificates is good in the hands of whoever shows one of them. */
  function boundElsewhere(call: Exchange, { session, keyHash }: KnownKey): GatewayResponse | undefined {
    const { certificate, boundCertificates } = session;
    const pins = pinned ? boundCertificates : [];
    if (certificate === undefined && pins.length === 0) return undefined;
    const der = call.peer.certificate;
    if (der === undefined && unbound && pins.length === 0) return undefined;
    const shown = der && shownCertificate(der);
    const isShown = (id: string) => id === shown?.fingerprint || id === `${orgId}${shown?.fingerprint}`;
    const fits = (certificate === undefined || isShown(certificate)) && (pins.length === 0 || pins.some(isShown));
    const now = services.clock.now();
    if (!shown || !fits || now < shown.validFromMs) return deny(services, call, 'cert_mismatch', keyHash);
    return now > shown.validUntilMs ? refuse(call, 'cert_expired') : undefined;
  }

  return (call: Exchange) => {
    const given = withoutBearer(credentialIn(places, call));
    if (given === '') return refuse(call, 'auth_field_missing');
    const found = given.length < leastLength ? undefined : services.keyCache.find(orgId, given);
    return found instanceof Promise ? found.then(known => admitted(call, given, known)) : admitted(call, given, found);
  };
}
