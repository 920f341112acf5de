import type { Exchange } from '../pipeline/exchange.ts';
import { type RefusalCode, refusals, refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepResult } from '../pipeline/step.ts';
import { adopt, deny, givesSession, isKnown } from './auth-result.ts';
import { credentialIn, placesOf } from './credential-sources.ts';
import { derivedSession, isRefused, keyIdOfIdentity } from './derived-session.ts';
import type { KeySet } from './jwks.ts';
import { scopePaths, scopesOf } from './jwt-claims.ts';
import { algorithmsOf, type Family } from './jwt-keys.ts';
import {
  type Checked,
  isFault,
  type Members,
  type Signer,
  type Token,
  type TokenFault,
  timeFault,
  tokenCheck,
} from './jwt-token.ts';
import type { KnownKey } from './key-cache.ts';

/** Providers sign with keys they publish; what is published is never a shared secret. */
const families: readonly Family[] = ['rsa', 'ecdsa', 'eddsa'];
const noSkews = { expiresAtSkewSeconds: 0, issuedAtSkewSeconds: 0, notBeforeSkewSeconds: 0 };

interface Provider {
  readonly keys: KeySet;
  readonly clients: ReadonlyMap<string, string>;
}

interface Caller {
  readonly client: string;
  readonly user: string;
  readonly policyIds: readonly string[];
}

const bearer = /^Bearer +(\S+)$/i;

/** Callers show an ID token of an OpenID provider. */
export const oidc: Step = {
  name: 'oidc',
  build(context) {
    const { model, services } = context;
    if (!model.modes.includes('oidc')) return undefined;
    const places = placesOf(model.oidc);
    const providers = providersOf(context);
    const find = ({ claims, kid, algorithm }: Token): MaybePromise<Signer | undefined> =>
      providers.get(String(claims.iss))?.keys.find({ kid, algorithm, families });
    const tokens = tokenCheck(algorithmsOf(families), find, error =>
      services.log.debug({ api: model.identity.id, reason: error.message }, 'an ID token could not be checked'),
    );
    const admit = admitting(context, providers);
    const notes = model.oauth2.enabled;

    function judged(call: Exchange, text: string, checked: Checked<Signer> | TokenFault): MaybePromise<StepResult> {
      if (isFault(checked)) return deny(services, call, 'oidc_refused', services.keyCache.hashOf(text));
      if (notes) call.verifiedToken = { text, claims: checked.token.claims };
      return admit(call, checked.token);
    }

    return {
      request(call) {
        if (isKnown(call)) return undefined;
        const [, text] = bearer.exec(credentialIn(places, call)) ?? [];
        if (text === undefined) return deny(services, call, 'oidc_refused', '');
        const checked = tokens.check(text);
        return checked instanceof Promise ? checked.then(it => judged(call, text, it)) : judged(call, text, checked);
      },
    };
  },
};

function providersOf({ model, services }: StepContext): ReadonlyMap<string, Provider> {
  return new Map(
    model.oidc.providers.map(({ issuer, clientToPolicy }) => [
      issuer,
      { keys: services.jwks.ofIssuer(issuer), clients: new Map(Object.entries(clientToPolicy)) },
    ]),
  );
}

function admitting({ model, services }: StepContext, providers: ReadonlyMap<string, Provider>) {
  const { oidc: settings, identity: api } = model;
  const gives = givesSession(model, 'oidc');
  const paths = scopePaths(settings);
  const scopes = new Map(Object.entries(settings.scopeToPolicy));
  const made = new WeakMap<Token, { readonly edition: number; readonly known: KnownKey }>();

  /** Whom the token names, through which client, with which policies; nothing where it may not be used here. */
  function callerIn(claims: Members): Caller | undefined {
    const { iss, aud, sub, exp } = claims;
    const clients = providers.get(String(iss))?.clients;
    const client = (Array.isArray(aud) ? aud : [aud]).find(it => clients?.has(it)) as string | undefined;
    if (client === undefined || typeof sub !== 'string' || sub === '' || exp === undefined) return undefined;
    const byScope = scopesOf(claims, paths).flatMap(scope => scopes.get(scope) ?? []);
    const policyIds = scopes.size > 0 ? byScope : [clients!.get(client)!];
    return policyIds.some(Boolean) ? { client, user: sub, policyIds } : undefined;
  }

  function keyIdOf({ client, user }: Caller): string {
    return settings.segregateByClientId ? keyIdOfIdentity(api.orgId, client, user) : keyIdOfIdentity(api.orgId, user);
  }

  async function sessionOf(caller: Caller, claims: Members): Promise<KnownKey | RefusalCode> {
    const keyId = keyIdOf(caller);
    const governed = await derivedSession(services, {
      orgId: api.orgId,
      keyId,
      alias: `${caller.client}:${caller.user}`,
      policyIds: caller.policyIds,
      expires: Math.ceil(Number(claims.exp)),
      metaData: { GwJWTSessionID: keyId, ClientID: caller.client },
      oauthClientId: undefined,
    });
    if (!isRefused(governed)) return governed;
    services.log.warn({ api: api.id, reason: governed.message }, 'the policy of an ID token cannot be applied');
    return governed.reason === 'policy_not_found' ? 'oidc_policy_unknown' : 'oidc_policy_unfit';
  }

  return (call: Exchange, token: Token): MaybePromise<StepResult> => {
    const caller = timeFault(token.claims, services.clock.now(), noSkews) ? undefined : callerIn(token.claims);
    if (!caller) return deny(services, call, 'oidc_refused', '');
    const edition = services.keyCache.edition();
    const kept = made.get(token);
    if (kept?.edition === edition) {
      if (gives) adopt(call, kept.known, 'oidc');
      return undefined;
    }
    return sessionOf(caller, token.claims).then(found => {
      if (typeof found === 'string') {
        const key = services.keyCache.hashOf(keyIdOf(caller));
        return refusals[found].event ? deny(services, call, found, key) : refuse(call, found);
      }
      made.set(token, { edition, known: found });
      if (gives) adopt(call, found, 'oidc');
      return undefined;
    });
  };
}
