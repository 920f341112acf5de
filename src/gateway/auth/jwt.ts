import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusals, refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession, isKnown } from './auth-result.ts';
import { credentialIn, placesOf, withoutBearer } from './credential-sources.ts';
import { derivedSession, isRefused, keyIdOfIdentity } from './derived-session.ts';
import {
  type Base,
  claimRules,
  clientIn,
  identityIn,
  policiesOf,
  policyIn,
  scopePaths,
  scopesOf,
} from './jwt-claims.ts';
import { centralSigners, type OwnSigner, ownSigners } from './jwt-source.ts';
import {
  type Checked,
  claimAt,
  isFault,
  type Signer,
  type TimeFault,
  type Token,
  type TokenFault,
  timeFault,
  tokenCheck,
} from './jwt-token.ts';
import type { KnownKey } from './key-cache.ts';

/** Callers send a JSON Web Token. */
export const jwt: Step = {
  name: 'jwt',
  build(context) {
    const { model } = context;
    if (!model.modes.includes('jwt')) return undefined;
    const central = model.jwt.source.trim() !== '' || model.jwt.keySets.length > 0;
    return central ? centralJwt(context) : ownJwt(context);
  },
};

const faults: Readonly<Record<TokenFault | TimeFault, RefusalCode>> = {
  malformed: 'jwt_refused',
  method: 'jwt_method',
  key: 'jwt_refused',
  signature: 'jwt_refused',
  expired: 'jwt_expired',
  before_issued: 'jwt_before_issued',
  not_yet: 'jwt_not_yet',
};

/** What a refusal says beside its row: the handle of the caller, and a word for its text. */
interface Reason {
  readonly code: RefusalCode;
  readonly key?: string;
  readonly claim?: string;
}

/** The part that both modes share: the credential is there, signed by whom it should be, in time and as asked. */
function tokenStep<S extends Signer>(
  { model, services }: StepContext,
  signers: Parameters<typeof tokenCheck<S>>[1],
  accepted: ReadonlySet<string>,
  admit: (call: Exchange, checked: Checked<S>) => MaybePromise<StepResult>,
) {
  const places = placesOf(model.jwt);
  const skews = model.jwt;
  const rules = claimRules(model.jwt);
  const notes = model.oauth2.enabled;
  const noted = (path: string) => services.log.warn({ api: model.identity.id, claim: path }, 'a claim is not as asked');
  const tokens = tokenCheck(accepted, signers, error =>
    services.log.debug({ api: model.identity.id, reason: error.message }, 'a token could not be checked'),
  );

  function judged(call: Exchange, text: string, checked: Checked<S> | TokenFault): MaybePromise<StepResult> {
    const refused = (code: RefusalCode) => denied(services, call, { code, key: services.keyCache.hashOf(text) });
    if (isFault(checked)) return refused(faults[checked]);
    const { claims, header } = checked.token;
    const untimely = timeFault(claims, services.clock.now(), skews);
    if (untimely) return refused(faults[untimely]);
    if (rules && !rules(claims, noted)) return refused('jwt_refused');
    if (notes) call.verifiedToken = { text, claims };
    if (call.context) describe(call.context, text, [header, claims]);
    return admit(call, checked);
  }

  return {
    request(call: Exchange): MaybePromise<StepResult> {
      if (isKnown(call)) return undefined;
      const text = withoutBearer(credentialIn(places, call)).trim();
      if (text === '') return denied(services, call, { code: 'jwt_field_missing' });
      const checked = tokens.check(text);
      return checked instanceof Promise ? checked.then(it => judged(call, text, it)) : judged(call, text, checked);
    },
  };
}

function denied(services: StepContext['services'], call: Exchange, { code, key = '', claim = '' }: Reason) {
  return refusals[code].event
    ? deny(services, call, code, key, 'Auth Failure', { claim })
    : refuse(call, code, { claim });
}

/** For templates and headers that name claims. */
function describe(context: Record<string, unknown>, text: string, parts: readonly Readonly<Record<string, unknown>>[]) {
  for (const part of parts) for (const [name, value] of Object.entries(part)) context[`jwt_claims_${name}`] = value;
  context.token = text;
}

/** One to one: the key a token names verifies it, and is the session. */
function ownJwt(context: StepContext) {
  const { model, services } = context;
  const { skipKid, subjectClaims, signingMethod } = model.jwt;
  const nameOf = ({ kid, claims }: Token): string => {
    if (kid && !skipKid) return kid;
    const found = identityIn(claims, subjectClaims);
    return found.ok ? found.identity : '';
  };
  const { accepted, find } = ownSigners(signingMethod, model.identity.orgId, nameOf, services);
  return tokenStep<OwnSigner>(context, find, accepted, (call, { signer }) => {
    adopt(call, signer.known, 'jwt');
    return undefined;
  });
}

/** One source for everybody: the token says who calls, and which policies make the session. */
function centralJwt(context: StepContext) {
  const { model, services } = context;
  const gives = givesSession(model, 'jwt');
  const { accepted, find } = centralSigners(model.jwt, services);
  const sessionOf = sessionMaker(context);
  const edition = () => services.keyCache.edition() + services.oauthTokens.edition();
  /** What a token was found to stand for, until a key, policy or client changes. */
  const made = new WeakMap<Token, { readonly edition: number; readonly known: KnownKey }>();

  function entered(call: Exchange, token: Token, before: number, found: KnownKey | Reason): StepResult {
    if ('code' in found) return denied(services, call, found);
    made.set(token, { edition: before, known: found });
    if (gives) adopt(call, found, 'jwt');
    return undefined;
  }

  return tokenStep<Signer>(context, find, accepted, (call, { token }) => {
    const now = edition();
    const kept = made.get(token);
    if (kept?.edition !== now) return sessionOf(token).then(found => entered(call, token, now, found));
    if (gives) adopt(call, kept.known, 'jwt');
    return undefined;
  });
}

function sessionMaker({ model, services }: StepContext) {
  const { jwt, identity: api } = model;
  const paths = scopePaths(jwt);

  /** The policy the token names, else that of the client it names, else the default ones. */
  async function baseOf(token: Token): Promise<Base> {
    const named = policyIn(token.claims, jwt.basePolicyClaims);
    if (named !== undefined) return { policyIds: [named], fromDefaults: false };
    const client = jwt.clientBaseField === '' ? undefined : claimAt(token.claims, jwt.clientBaseField);
    if (typeof client === 'string') {
      const [first] = (await services.keyCache.find(api.orgId, client))?.session.policyIds ?? [];
      if (first !== undefined) return { policyIds: [first], fromDefaults: false };
    }
    return { policyIds: jwt.defaultPolicies, fromDefaults: true };
  }

  return async ({ claims, ...token }: Token): Promise<KnownKey | Reason> => {
    const named = identityIn(claims, jwt.subjectClaims);
    if (!named.ok) return named;
    const keyId = keyIdOfIdentity(api.orgId, named.identity);
    const key = services.keyCache.hashOf(keyId);
    const chosen = policiesOf(await baseOf({ claims, ...token }), scopesOf(claims, paths), jwt.scopeToPolicy);
    if (!chosen.ok) return { ...chosen, key };
    const clientId = jwt.idpClientIdMappingDisabled ? undefined : clientIn(claims);
    const client = clientId === undefined ? undefined : await services.oauthTokens.client(api.id, clientId);
    const governed = await derivedSession(services, {
      orgId: api.orgId,
      keyId,
      alias: named.identity,
      policyIds: chosen.policyIds,
      expires: claims.exp === undefined ? undefined : Math.ceil(Number(claims.exp)) + jwt.expiresAtSkewSeconds,
      metaData: { ...client?.metaData, GwJWTSessionID: keyId },
      oauthClientId: clientId,
    });
    if (!isRefused(governed)) return governed;
    services.log.warn({ api: api.id, key, reason: governed.message }, 'the policies of a token cannot be applied');
    if (chosen.policyIds.length > 1) return { code: 'jwt_policies_unfit', key };
    return { code: governed.reason === 'policy_not_found' ? 'jwt_policy_unknown' : 'jwt_policy_unfit', key };
  };
}
