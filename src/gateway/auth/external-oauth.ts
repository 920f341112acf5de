import type { Key } from '#access/keys/schema.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepHooks, StepResult } from '../pipeline/step.ts';
import { adopt, isKnown } from './auth-result.ts';
import { credentialIn, placesOf, withoutBearer } from './credential-sources.ts';
import { governed, isRefused, keyIdOfIdentity } from './derived-session.ts';
import { introspection, isProblem } from './introspection.ts';
import { centralSigners } from './jwt-source.ts';
import {
  type Checked,
  claimAt,
  isFault,
  longestToken,
  type Members,
  type Signer,
  type TimeFault,
  type TokenFault,
  timeFault,
  tokenCheck,
} from './jwt-token.ts';
import type { KnownKey } from './key-cache.ts';

/** Callers send a token that another server issued. */
export const externalOAuth: Step = {
  name: 'external-oauth',
  build(context): StepHooks | undefined {
    const { model } = context;
    if (!model.modes.includes('externalOAuth')) return undefined;
    const [provider] = model.externalOAuth.providers;
    if (!provider) return { request: call => (isKnown(call) ? undefined : refuse(call, 'external_no_provider')) };
    if (provider.jwtEnabled) return step(context, signedTokens(context, provider));
    if (provider.introspectionEnabled) return step(context, introspected(context, provider));
    return { request: call => (isKnown(call) ? undefined : refuse(call, 'external_no_method')) };
  },
};

type Provider = StepContext['model']['externalOAuth']['providers'][number];
type Judge = (call: Exchange, text: string) => MaybePromise<StepResult>;

function step({ model }: StepContext, judge: Judge): StepHooks {
  const places = placesOf(model.externalOAuth);
  return {
    request(call) {
      if (isKnown(call)) return undefined;
      const text = withoutBearer(credentialIn(places, call)).trim();
      return text === '' ? refuse(call, 'external_field_missing') : judge(call, text);
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

function signedTokens(context: StepContext, provider: Provider): Judge {
  const { services, model } = context;
  const { accepted, find } = centralSigners(provider, services);
  const tokens = tokenCheck<Signer>(accepted, find, error =>
    services.log.debug({ api: model.identity.id, reason: error.message }, 'an access token could not be checked'),
  );
  const admit = admitting(context, provider.identityBaseField);

  function judged(call: Exchange, text: string, checked: Checked<Signer> | TokenFault): MaybePromise<StepResult> {
    if (isFault(checked)) return refuse(call, 'external_refused', { reason: reasons[checked] });
    const { claims } = checked.token;
    const untimely = timeFault(claims, services.clock.now(), provider);
    return untimely ? refuse(call, 'external_untimely', { reason: reasons[untimely] }) : admit(call, text, claims);
  }

  return (call, text) => {
    const checked = tokens.check(text);
    return checked instanceof Promise ? checked.then(it => judged(call, text, it)) : judged(call, text, checked);
  };
}

function introspected(context: StepContext, provider: Provider): Judge {
  const ask = introspection(provider, context.model.identity.id, context.services);
  const admit = admitting(context, provider.introspectionIdentityField);

  function judged(
    call: Exchange,
    text: string,
    reply: Members | 'failed' | 'inactive' | 'expired',
  ): MaybePromise<StepResult> {
    if (!isProblem(reply)) return admit(call, text, reply);
    if (reply === 'expired') return refuse(call, 'external_untimely', { reason: reasons.expired });
    return refuse(call, reply === 'inactive' ? 'external_inactive' : 'external_failed');
  }

  return (call, text) => {
    if (text.length > longestToken) return refuse(call, 'external_inactive');
    const reply = ask(text);
    return reply instanceof Promise ? reply.then(it => judged(call, text, it)) : judged(call, text, reply);
  };
}

/** Lets in whom a token names: with the key kept for them, else with one that may call this API and nothing else. */
function admitting({ model, services }: StepContext, identityField: string) {
  const { identity: api } = model;
  const field = identityField || 'sub';
  const made = new WeakMap<Members, { readonly edition: number; readonly known: KnownKey }>();

  const virtual = (alias: string): Key => ({
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

  async function keyOf(identity: string): Promise<KnownKey | undefined> {
    const keyId = keyIdOfIdentity(api.orgId, identity);
    const stored = await services.keyCache.find(api.orgId, keyId);
    if (stored) return stored;
    const found = await governed(services, api.orgId, keyId, virtual(identity));
    return isRefused(found) ? undefined : found;
  }

  const notes = model.oauth2.enabled;

  return (call: Exchange, text: string, claims: Members): MaybePromise<StepResult> => {
    if (notes) call.verifiedToken = { text, claims };
    const edition = services.keyCache.edition();
    const kept = made.get(claims);
    if (kept?.edition === edition) {
      adopt(call, kept.known, 'externalOAuth');
      return undefined;
    }
    const identity = claimAt(claims, field);
    if (typeof identity !== 'string' || identity === '') return refuse(call, 'external_failed');
    return keyOf(identity).then(known => {
      if (!known) return refuse(call, 'external_failed');
      made.set(claims, { edition, known });
      adopt(call, known, 'externalOAuth');
      return undefined;
    });
  };
}
