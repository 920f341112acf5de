import { createPrivateKey, hash, type KeyObject } from 'node:crypto';
import { createUuid } from '#base/ids.ts';
import { loadJose } from '#base/lazy-packages.ts';
import type { Model } from '#definition/model.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError, type StepContext } from '../pipeline/step.ts';
import { compileVariables, escapeUrlValue, type VariableServices } from '../variables/variables.ts';
import type { AuthServices } from './services.ts';

export type ExchangeProvider = Model['oauth2']['providers'][number];

/** Audience and scopes of the new token. */
export interface ExchangeTarget {
  readonly audience: string;
  readonly scopes: readonly string[];
}

/** Token exchange request (RFC 8693) without client authentication. */
export interface ExchangeRequest {
  readonly url: string;
  readonly form: readonly (readonly [name: string, value: string])[];
}

const accessToken = 'urn:ietf:params:oauth:token-type:access_token';
const buildTokenExchangeForm = (subject: string) =>
  [
    ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
    ['subject_token', subject],
    ['subject_token_type', accessToken],
    ['requested_token_type', accessToken],
  ] as const;
const buildAssertionForm = (subject: string) =>
  [
    ['grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
    ['assertion', subject],
  ] as const;

/** Builds the request to the token endpoint. Variables in its URL are escaped. */
export function createRequestBuilder(provider: ExchangeProvider, services: VariableServices) {
  const { tokenEndpoint, grantType, customParams } = provider;
  const url = compileVariables(tokenEndpoint, services, escapeUrlValue);
  const custom = Object.entries(customParams).map(([name, text]) => [name, compileVariables(text, services)] as const);
  const buildGrantForm = grantType === 'jwt-bearer' ? buildAssertionForm : buildTokenExchangeForm;
  return (call: Exchange, { audience, scopes }: ExchangeTarget): ExchangeRequest => ({
    url: url(call),
    form: [
      ...buildGrantForm(call.bearerToken),
      ...(audience === '' ? [] : [['audience', audience] as const]),
      ...(scopes.length === 0 ? [] : [['scope', scopes.join(' ')] as const]),
      ...custom.map(([name, value]) => [name, value(call)] as const),
    ],
  });
}

/** Client authentication (RFC 6749, section 2.3): headers or form parameters. */
export interface ClientAuthentication {
  readonly headers: Readonly<Record<string, string>>;
  readonly form: readonly (readonly [name: string, value: string])[];
}

export type ClientAuthServices = Pick<AuthServices, 'certificates' | 'clock'>;

export type AuthenticateClient = (url: string) => ClientAuthentication | Promise<ClientAuthentication>;

export function createClientAuthentication(
  provider: ExchangeProvider,
  context: StepContext<ClientAuthServices>,
): AuthenticateClient {
  const { clientMethod, clientId, clientSecret } = provider;
  if (clientMethod === 'private_key_jwt') return createPrivateKeyJwt(provider, context);
  const clientIdForm = [['client_id', clientId]] as const;
  // A public client has no secret.
  if (clientSecret === '') return () => ({ headers: {}, form: clientIdForm });
  if (clientMethod === 'client_secret_post')
    return () => ({ headers: {}, form: [...clientIdForm, ['client_secret', clientSecret]] });
  const text = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const headers = { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
  return () => ({ headers, form: [] });
}

const assertionTtlSeconds = 60;

/** private_key_jwt client authentication (RFC 7523), signed with the key of a certificate. */
function createPrivateKeyJwt(
  { clientId, certificateId, name }: ExchangeProvider,
  { model, services }: StepContext<ClientAuthServices>,
): AuthenticateClient {
  const certificate = services.certificates.get(model.identity.orgId, certificateId);
  if (!certificate?.privateKey || !certificate.x509)
    throw new ApiCompileError(
      `the certificate ${certificateId} of the provider ${name} is not in the certificate store with its private key`,
    );
  const key = createPrivateKey(certificate.privateKey());
  const alg = chooseAlgorithm(key);
  if (!alg) throw new ApiCompileError(`the key of the certificate ${certificateId} cannot sign tokens`);
  const thumbprint = hash('sha256', certificate.x509.raw, 'base64url');
  return async url => {
    const now = Math.floor(services.clock.now() / 1000);
    const signed = await new (loadJose().SignJWT)({ jti: createUuid() })
      .setProtectedHeader({ alg, typ: 'JWT', 'x5t#S256': thumbprint })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(url)
      .setIssuedAt(now)
      .setExpirationTime(now + assertionTtlSeconds)
      .sign(key);
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
    const form = [
      ['client_id', clientId],
      ['client_assertion_type', type],
      ['client_assertion', signed],
    ] as const;
    return { headers: {}, form };
  };
}

const curves: Readonly<Record<string, string>> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };

function chooseAlgorithm({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  if (asymmetricKeyType === 'rsa') return 'RS256';
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  return asymmetricKeyType === 'ec' ? curves[asymmetricKeyDetails?.namedCurve ?? ''] : undefined;
}
