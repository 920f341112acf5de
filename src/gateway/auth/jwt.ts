import { metadataNames } from '#access/keys/metadata-names.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import { refusals, refuse } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { deny, isAuthenticated, providesSession, setIdentity } from './auth-result.ts';
import { readCredential, stripBearer, toCredentialSources } from './credential-sources.ts';
import { createDerivedSession, isRefused, keyIdOfIdentity } from './derived-session.ts';
import {
  type BasePolicies,
  compileClaimRules,
  getScopePaths,
  readClientId,
  readIdentity,
  readPolicyClaim,
  readScopes,
  selectPolicies,
} from './jwt-claims.ts';
import { createKeySigners, createSharedSigners, type KeySigner } from './jwt-signers.ts';
import {
  createJwtVerifier,
  findTimeFault,
  isTokenFault,
  type JwtSigner,
  type ParsedJwt,
  readClaim,
  type TimeFault,
  type TokenFault,
  type VerifiedJwt,
} from './jwt-verifier.ts';
import type { CachedKey } from './key-cache.ts';
import type { AuthServices } from './services.ts';
import { needsVerifiedToken } from './verified-token.ts';

type Services = Pick<AuthServices, 'clock' | 'emitEvent' | 'jwks' | 'keyCache' | 'log' | 'oauthTokens' | 'settings'>;

const reads = {
  api: ['jwt'],
  also: { api: ['authMethods', 'authentication', 'graphql', 'oauth2'] },
} as const satisfies StepReads;

/** JWT authentication (RFC 7519). */
export const jwtStep: Step<Services, typeof reads> = {
  name: 'jwt',
  reads,
  build(context) {
    const { model } = context;
    if (!model.authMethods.includes('jwt')) return undefined;
    const central = model.jwt.source.trim() !== '' || model.jwt.keySets.length > 0;
    return central ? buildSharedJwt(context) : buildKeyJwt(context);
  },
};

const refusalCodes: Readonly<Record<TokenFault | TimeFault, RefusalCode>> = {
  malformed: 'jwt_refused',
  method: 'jwt_algorithm_unexpected',
  key: 'jwt_refused',
  signature: 'jwt_refused',
  expired: 'jwt_expired',
  before_issued: 'jwt_before_issued',
  not_yet: 'jwt_not_yet_valid',
};

/** Details of a refusal: the hash of the key, and the claim for its message. */
interface Reason {
  readonly code: RefusalCode;
  readonly key?: string;
  readonly claim?: string;
}

/** Shared part of both modes: reads, verifies and validates the token. */
function createTokenStep<S extends JwtSigner>(
  { model, services }: StepContext<Services, typeof reads>,
  signers: Parameters<typeof createJwtVerifier<S>>[1],
  accepted: ReadonlySet<string>,
  authenticate: (call: Exchange, checked: VerifiedJwt<S>) => MaybePromise<StepResult>,
) {
  const places = toCredentialSources(model.jwt);
  const skews = model.jwt;
  const rules = compileClaimRules(model.jwt);
  const recordsToken = needsVerifiedToken(model);
  const logMismatch = (path: string) =>
    services.log.warn({ api: model.identity.id, claim: path }, 'JWT claim mismatch, not blocking');
  const tokens = createJwtVerifier(accepted, signers, error =>
    services.log.debug({ api: model.identity.id, reason: error.message }, 'JWT verification failed'),
  );

  function evaluate(call: Exchange, text: string, checked: VerifiedJwt<S> | TokenFault): MaybePromise<StepResult> {
    const reject = (code: RefusalCode) => rejectWith(services, call, { code, key: services.keyCache.hashOf(text) });
    if (isTokenFault(checked)) return reject(refusalCodes[checked]);
    const { claims, header } = checked.token;
    const untimely = findTimeFault(claims, services.clock.now(), skews);
    if (untimely) return reject(refusalCodes[untimely]);
    if (rules && !rules(claims, logMismatch)) return reject('jwt_refused');
    if (recordsToken) call.verifiedToken = { text, claims };
    if (call.context) setClaimVariables(call.context, text, [header, claims]);
    return authenticate(call, checked);
  }

  return {
    request(call: Exchange): MaybePromise<StepResult> {
      if (isAuthenticated(call)) return undefined;
      const text = stripBearer(readCredential(places, call)).trim();
      if (text === '') return rejectWith(services, call, { code: 'jwt_field_missing' });
      const checked = tokens.verify(text);
      return checked instanceof Promise ? checked.then(it => evaluate(call, text, it)) : evaluate(call, text, checked);
    },
  };
}

function rejectWith(services: Services, call: Exchange, { code, key = '', claim = '' }: Reason) {
  return refusals[code].event
    ? deny(services, call, code, key, 'Auth Failure', { claim })
    : refuse(call, code, { claim });
}

/** Context variables for templates and headers. */
function setClaimVariables(
  context: Record<string, unknown>,
  text: string,
  parts: readonly Readonly<Record<string, unknown>>[],
) {
  for (const part of parts) for (const [name, value] of Object.entries(part)) context[`jwt_claims_${name}`] = value;
  context.token = text;
}

/** Per-key JWT: the key that the token names verifies it and is the session. */
function buildKeyJwt(context: StepContext<Services, typeof reads>) {
  const { model, services } = context;
  const { skipKid, subjectClaims, signingMethod } = model.jwt;
  const readKeyName = ({ kid, claims }: ParsedJwt): string => {
    if (kid && !skipKid) return kid;
    const found = readIdentity(claims, subjectClaims);
    return found.ok ? found.identity : '';
  };
  const { accepted, find } = createKeySigners(signingMethod, model.identity.orgId, readKeyName, services);
  return createTokenStep<KeySigner>(context, find, accepted, (call, { signer }) => {
    setIdentity(call, signer.known, 'jwt');
    return undefined;
  });
}

/** Shared key source: identity and policies come from the claims. */
function buildSharedJwt(context: StepContext<Services, typeof reads>) {
  const { model, services } = context;
  const setsIdentity = providesSession(model, 'jwt');
  const { accepted, find } = createSharedSigners(model.jwt, services);
  const buildSession = createSessionBuilder(context);
  const edition = () => services.keyCache.version() + services.oauthTokens.version();
  /** Sessions by token, valid until a key, policy or client changes. */
  const made = new WeakMap<ParsedJwt, { readonly edition: number; readonly known: CachedKey }>();

  function finish(call: Exchange, token: ParsedJwt, before: number, found: CachedKey | Reason): StepResult {
    if ('code' in found) return rejectWith(services, call, found);
    made.set(token, { edition: before, known: found });
    if (setsIdentity) setIdentity(call, found, 'jwt');
    return undefined;
  }

  return createTokenStep<JwtSigner>(context, find, accepted, (call, { token }) => {
    const now = edition();
    const kept = made.get(token);
    if (kept?.edition !== now) return buildSession(token).then(found => finish(call, token, now, found));
    if (setsIdentity) setIdentity(call, kept.known, 'jwt');
    return undefined;
  });
}

function createSessionBuilder({ model, services }: StepContext<Services, typeof reads>) {
  const { jwt, identity: api } = model;
  const paths = getScopePaths(jwt);

  /** The policy of the token, else of its client, else the defaults. */
  async function findBasePolicies(token: ParsedJwt): Promise<BasePolicies> {
    const named = readPolicyClaim(token.claims, jwt.basePolicyClaims);
    if (named !== undefined) return { policyIds: [named], fromDefaults: false };
    const client = jwt.clientBaseField === '' ? undefined : readClaim(token.claims, jwt.clientBaseField);
    if (typeof client === 'string') {
      const [first] = (await services.keyCache.find(api.orgId, client))?.session.policyIds ?? [];
      if (first !== undefined) return { policyIds: [first], fromDefaults: false };
    }
    return { policyIds: jwt.defaultPolicies, fromDefaults: true };
  }

  return async ({ claims, ...token }: ParsedJwt): Promise<CachedKey | Reason> => {
    const named = readIdentity(claims, jwt.subjectClaims);
    if (!named.ok) return named;
    const keyId = keyIdOfIdentity(api.orgId, named.identity);
    const key = services.keyCache.hashOf(keyId);
    const chosen = selectPolicies(
      await findBasePolicies({ claims, ...token }),
      readScopes(claims, paths),
      jwt.scopeToPolicy,
    );
    if (!chosen.ok) return { ...chosen, key };
    const clientId = jwt.idpClientIdMappingDisabled ? undefined : readClientId(claims);
    const client = clientId === undefined ? undefined : await services.oauthTokens.client(api.id, clientId);
    const governed = await createDerivedSession(services, {
      orgId: api.orgId,
      keyId,
      alias: named.identity,
      policyIds: chosen.policyIds,
      expires: claims.exp === undefined ? undefined : Math.ceil(Number(claims.exp)) + jwt.expiresAtSkewSeconds,
      metaData: { ...client?.metaData, [metadataNames.jwtSession]: keyId },
      oauthClientId: clientId,
    });
    if (!isRefused(governed)) return governed;
    services.log.warn({ api: api.id, key, reason: governed.message }, 'JWT policies not applicable');
    if (chosen.policyIds.length > 1) return { code: 'jwt_policies_not_applicable', key };
    return { code: governed.reason === 'policy_not_found' ? 'jwt_policy_unknown' : 'jwt_policy_not_applicable', key };
  };
}
