import { metadataNames } from '#access/keys/metadata-names.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model } from '#definition/model.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refusals, refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { deny, isAuthenticated, providesSession, setIdentity } from './auth-result.ts';
import { readCredential, toCredentialSources } from './credential-sources.ts';
import { createDerivedSession, isRefused, keyIdOfIdentity } from './derived-session.ts';
import type { KeySet } from './jwks.ts';
import { getScopePaths, readScopes } from './jwt-claims.ts';
import { type KeyFamily, listAlgorithms } from './jwt-keys.ts';
import {
  createJwtVerifier,
  findTimeFault,
  isTokenFault,
  type JwtMembers,
  type JwtSigner,
  type ParsedJwt,
  type TokenFault,
  type VerifiedJwt,
} from './jwt-verifier.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';
import { needsVerifiedToken } from './verified-token.ts';

/** Published keys are never shared secrets: no HMAC. */
const acceptedFamilies: readonly KeyFamily[] = ['rsa', 'ecdsa', 'eddsa'];
const noSkews = { expiresAtSkewSeconds: 0, issuedAtSkewSeconds: 0, notBeforeSkewSeconds: 0 };

interface OidcProvider {
  readonly keys: KeySet;
  readonly clients: ReadonlyMap<string, string>;
}

interface Caller {
  readonly client: string;
  readonly user: string;
  readonly policyIds: readonly string[];
}

const bearerPattern = /^Bearer +(\S+)$/i;

type Services = Pick<AuthServices, 'clock' | 'emitEvent' | 'jwks' | 'keyCache' | 'log' | 'settings'>;

const reads = {
  api: ['oidc'],
  also: { api: ['authMethods', 'authentication', 'graphql', 'oauth2'] },
} as const satisfies StepReads;

/** OpenID Connect: ID tokens of configured providers. */
export const oidcStep: Step<Services, typeof reads> = {
  name: 'oidc',
  reads,
  build(context) {
    const { model, services } = context;
    if (!model.authMethods.includes('oidc')) return undefined;
    const places = toCredentialSources(model.oidc);
    const providers = buildProviders(context);
    const find = ({ claims, kid, algorithm }: ParsedJwt): MaybePromise<JwtSigner | undefined> =>
      providers.get(String(claims.iss))?.keys.find({ kid, algorithm, families: acceptedFamilies });
    const tokens = createJwtVerifier(listAlgorithms(acceptedFamilies), find, error =>
      services.log.debug({ api: model.identity.id, reason: error.message }, 'ID token verification failed'),
    );
    const authenticate = createAuthenticator(context, providers);
    const recordsToken = needsVerifiedToken(model);

    function evaluate(
      call: Exchange,
      text: string,
      checked: VerifiedJwt<JwtSigner> | TokenFault,
    ): MaybePromise<StepResult> {
      if (isTokenFault(checked)) return deny(services, call, 'oidc_refused', services.keyCache.hashOf(text));
      if (recordsToken) call.verifiedToken = { text, claims: checked.token.claims };
      return authenticate(call, checked.token);
    }

    return {
      request(call) {
        if (isAuthenticated(call)) return undefined;
        const [, text] = bearerPattern.exec(readCredential(places, call)) ?? [];
        if (text === undefined) return deny(services, call, 'oidc_refused', '');
        const checked = tokens.verify(text);
        return checked instanceof Promise
          ? checked.then(it => evaluate(call, text, it))
          : evaluate(call, text, checked);
      },
    };
  },
};

function buildProviders({ model, services }: StepContext<Services, typeof reads>): ReadonlyMap<string, OidcProvider> {
  return new Map(
    model.oidc.providers.map(({ issuer, clientToPolicy }) => [
      issuer,
      { keys: services.jwks.forIssuer(issuer), clients: new Map(Object.entries(clientToPolicy)) },
    ]),
  );
}

/** Reads client, user and policies of an ID token; undefined where it is not for this API. */
function createCallerReader(settings: Model['oidc'], providers: ReadonlyMap<string, OidcProvider>) {
  const paths = getScopePaths(settings);
  const scopes = new Map(Object.entries(settings.scopeToPolicy));
  return (claims: JwtMembers): Caller | undefined => {
    const { iss, aud, sub, exp } = claims;
    const clients = providers.get(String(iss))?.clients;
    const client = (Array.isArray(aud) ? aud : [aud]).find(it => clients?.has(it)) as string | undefined;
    if (client === undefined || typeof sub !== 'string' || sub === '' || exp === undefined) return undefined;
    const byScope = readScopes(claims, paths).flatMap(scope => scopes.get(scope) ?? []);
    const policyIds = scopes.size > 0 ? byScope : [clients!.get(client)!];
    return policyIds.some(Boolean) ? { client, user: sub, policyIds } : undefined;
  };
}

function createAuthenticator(
  { model, services }: StepContext<Services, typeof reads>,
  providers: ReadonlyMap<string, OidcProvider>,
) {
  const { oidc: settings, identity: api } = model;
  const setsIdentity = providesSession(model, 'oidc');
  const readCaller = createCallerReader(settings, providers);
  const made = new WeakMap<ParsedJwt, { readonly edition: number; readonly known: CachedKey }>();

  function buildKeyId({ client, user }: Caller): string {
    return settings.segregateByClientId ? keyIdOfIdentity(api.orgId, client, user) : keyIdOfIdentity(api.orgId, user);
  }

  async function buildSession(caller: Caller, claims: JwtMembers): Promise<CachedKey | RefusalCode> {
    const keyId = buildKeyId(caller);
    const governed = await createDerivedSession(services, {
      orgId: api.orgId,
      keyId,
      alias: `${caller.client}:${caller.user}`,
      policyIds: caller.policyIds,
      expires: Math.ceil(Number(claims.exp)),
      metaData: { [metadataNames.jwtSession]: keyId, [metadataNames.oidcClient]: caller.client },
      oauthClientId: undefined,
    });
    if (!isRefused(governed)) return governed;
    services.log.warn({ api: api.id, reason: governed.message }, 'ID token policy not applicable');
    return governed.reason === 'policy_not_found' ? 'oidc_policy_unknown' : 'oidc_policy_not_applicable';
  }

  return (call: Exchange, token: ParsedJwt): MaybePromise<StepResult> => {
    const caller = findTimeFault(token.claims, services.clock.now(), noSkews) ? undefined : readCaller(token.claims);
    if (!caller) return deny(services, call, 'oidc_refused', '');
    const edition = services.keyCache.version();
    const kept = made.get(token);
    if (kept?.edition === edition) {
      if (setsIdentity) setIdentity(call, kept.known, 'oidc');
      return undefined;
    }
    return buildSession(caller, token.claims).then(found => {
      if (typeof found === 'string') {
        const key = services.keyCache.hashOf(buildKeyId(caller));
        return refusals[found].event ? deny(services, call, found, key) : refuse(call, found);
      }
      made.set(token, { edition, known: found });
      if (setsIdentity) setIdentity(call, found, 'oidc');
      return undefined;
    });
  };
}
