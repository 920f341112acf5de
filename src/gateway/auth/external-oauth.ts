import type { Key } from '#access/keys/schema.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { isAuthenticated, setIdentity } from './auth-result.ts';
import { readCredential, stripBearer, toCredentialSources } from './credential-sources.ts';
import { applyKeyPolicies, isRefused, keyIdOfIdentity } from './derived-session.ts';
import { createIntrospector, isIntrospectionFailure } from './introspection.ts';
import { createSharedSigners } from './jwt-signers.ts';
import {
  createJwtVerifier,
  findTimeFault,
  isTokenFault,
  type JwtMembers,
  type JwtSigner,
  maxTokenChars,
  readClaim,
  type TimeFault,
  type TokenFault,
  type VerifiedJwt,
} from './jwt-verifier.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';
import { needsVerifiedToken } from './verified-token.ts';

type Services = Pick<AuthServices, 'clock' | 'jwks' | 'keyCache' | 'log' | 'outbound' | 'settings'>;

const reads = {
  api: ['externalOAuth'],
  also: { api: ['authMethods', 'graphql', 'oauth2', 'versions'] },
} as const satisfies StepReads;

/** External OAuth: access tokens of another authorization server, as JWT or by introspection (RFC 7662). */
export const externalOAuthStep: Step<Services, typeof reads> = {
  name: 'external-oauth',
  reads,
  build(context): StepHooks | undefined {
    const { model } = context;
    if (!model.authMethods.includes('externalOAuth')) return undefined;
    const [provider] = model.externalOAuth.providers;
    if (!provider)
      return { request: call => (isAuthenticated(call) ? undefined : refuse(call, 'external_no_provider')) };
    if (provider.jwtEnabled) return createStep(context, createSignedTokenVerifier(context, provider));
    if (provider.introspectionEnabled) return createStep(context, createIntrospectionVerifier(context, provider));
    return { request: call => (isAuthenticated(call) ? undefined : refuse(call, 'external_no_method')) };
  },
};

type Provider = StepContext<Services, typeof reads>['model']['externalOAuth']['providers'][number];
type VerifyToken = (call: Exchange, text: string) => MaybePromise<StepResult>;

function createStep({ model }: StepContext<Services, typeof reads>, verify: VerifyToken): StepHooks {
  const places = toCredentialSources(model.externalOAuth);
  return {
    request(call) {
      if (isAuthenticated(call)) return undefined;
      const text = stripBearer(readCredential(places, call)).trim();
      return text === '' ? refuse(call, 'external_field_missing') : verify(call, text);
    },
  };
}

const reasons: Readonly<Record<TokenFault | TimeFault, string>> = {
  malformed: 'token is malformed',
  method: 'unexpected signing method',
  key: 'no key verifies the token',
  signature: 'signature is invalid',
  expired: 'token has expired',
  before_issued: 'token used before issued',
  not_yet: 'token is not valid yet',
};

function createSignedTokenVerifier(context: StepContext<Services, typeof reads>, provider: Provider): VerifyToken {
  const { services, model } = context;
  const { accepted, find } = createSharedSigners(provider, services);
  const tokens = createJwtVerifier<JwtSigner>(accepted, find, error =>
    services.log.debug({ api: model.identity.id, reason: error.message }, 'access token verification failed'),
  );
  const authenticate = createAuthenticator(context, provider.identityBaseField);

  function evaluate(
    call: Exchange,
    text: string,
    checked: VerifiedJwt<JwtSigner> | TokenFault,
  ): MaybePromise<StepResult> {
    if (isTokenFault(checked)) return refuse(call, 'external_refused', { reason: reasons[checked] });
    const { claims } = checked.token;
    const untimely = findTimeFault(claims, services.clock.now(), provider);
    return untimely
      ? refuse(call, 'external_token_not_valid_now', { reason: reasons[untimely] })
      : authenticate(call, text, claims);
  }

  return (call, text) => {
    const checked = tokens.verify(text);
    return checked instanceof Promise ? checked.then(it => evaluate(call, text, it)) : evaluate(call, text, checked);
  };
}

function createIntrospectionVerifier(context: StepContext<Services, typeof reads>, provider: Provider): VerifyToken {
  const introspect = createIntrospector(provider, context.model.identity.id, context.services);
  const authenticate = createAuthenticator(context, provider.introspectionIdentityField);

  function evaluate(
    call: Exchange,
    text: string,
    reply: JwtMembers | 'failed' | 'inactive' | 'expired',
  ): MaybePromise<StepResult> {
    if (!isIntrospectionFailure(reply)) return authenticate(call, text, reply);
    if (reply === 'expired') return refuse(call, 'external_token_not_valid_now', { reason: reasons.expired });
    return refuse(call, reply === 'inactive' ? 'external_inactive' : 'external_failed');
  }

  return (call, text) => {
    if (text.length > maxTokenChars) return refuse(call, 'external_inactive');
    const reply = introspect(text);
    return reply instanceof Promise ? reply.then(it => evaluate(call, text, it)) : evaluate(call, text, reply);
  };
}

/** Sets the session of the token's identity: its stored key, else a default key for this API alone. */
function createAuthenticator({ model, services }: StepContext<Services, typeof reads>, identityField: string) {
  const { identity: api } = model;
  const field = identityField || 'sub';
  const sessions = new WeakMap<JwtMembers, { readonly edition: number; readonly known: CachedKey }>();

  const buildDefaultKey = (alias: string): Key => ({
    org_id: api.orgId,
    alias,
    rate: 10_000,
    per: 60,
    quota_max: -1,
    access_rights: {
      [api.id]: {
        api_id: api.id,
        api_name: api.name,
        versions: model.versions.map(({ key, version }) => version.name || key),
      },
    },
  });

  async function findKey(identity: string): Promise<CachedKey | undefined> {
    const keyId = keyIdOfIdentity(api.orgId, identity);
    const stored = await services.keyCache.find(api.orgId, keyId);
    if (stored) return stored;
    const derived = await applyKeyPolicies(services, api.orgId, keyId, buildDefaultKey(identity));
    return isRefused(derived) ? undefined : derived;
  }

  const recordsToken = needsVerifiedToken(model);

  return (call: Exchange, text: string, claims: JwtMembers): MaybePromise<StepResult> => {
    if (recordsToken) call.verifiedToken = { text, claims };
    const edition = services.keyCache.version();
    const cached = sessions.get(claims);
    if (cached?.edition === edition) {
      setIdentity(call, cached.known, 'externalOAuth');
      return undefined;
    }
    const identity = readClaim(claims, field);
    if (typeof identity !== 'string' || identity === '') return refuse(call, 'external_failed');
    return findKey(identity).then(known => {
      if (!known) return refuse(call, 'external_failed');
      sessions.set(claims, { edition, known });
      setIdentity(call, known, 'externalOAuth');
      return undefined;
    });
  };
}
