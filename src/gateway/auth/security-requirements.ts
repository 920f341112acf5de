import type { AuthMode, Model } from '#definition/model.ts';
import type { Alternative } from '#definition/security-requirements.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Doing, Made, Outcome, Step, StepContext } from '../pipeline/step.ts';
import type { GatewayTools } from '../pipeline/step-services.ts';
import { identities, isKnown } from './auth-result.ts';
import { basic } from './basic.ts';
import { clientCertificates } from './client-certificates.ts';
import { externalOAuth } from './external-oauth.ts';
import { hmac } from './hmac.ts';
import { jwt } from './jwt.ts';
import { oauth } from './oauth/token-step.ts';
import { oidc } from './oidc.ts';
import { token } from './token.ts';

const ways: Partial<Record<AuthMode, Step>> = { oauth, externalOAuth, basic, hmac, jwt, oidc, token };

type Request = NonNullable<Made['request']>;

/**
 * Several ways in, any of which will do. Each is tried as if it were the only one: what it found out, and whom it told, is
 * forgotten when it fails. The last one's refusal is what a caller hears that none of them lets in.
 */
export const alternatives: Step = {
  name: 'alternatives',
  make(context) {
    const { model } = context;
    if (model.alternatives.length === 0) return undefined;
    const held = holding(context.tools);
    const attempts = model.alternatives.map(it => attemptOf(it, { ...context, tools: held.tools }));

    function attempt(call: Exchange, before: Before, at: number): Doing<Outcome> {
      const outcome = walked(attempts[at]!, call, 0);
      return outcome instanceof Promise
        ? outcome.then(it => settled(call, before, at, it))
        : settled(call, before, at, outcome);
    }

    function settled(call: Exchange, before: Before, at: number, outcome: Outcome): Doing<Outcome> {
      const refused = outcome ?? (call.session ? undefined : refuse(call, 'no_session'));
      if (!refused) {
        call.alternative = at;
        held.forget(call);
        return undefined;
      }
      const { refusal } = call;
      restore(call, before);
      if (at + 1 === attempts.length) {
        call.refusal = refusal;
        held.tell(call);
        return refused;
      }
      held.forget(call);
      return attempt(call, before, at + 1);
    }

    return { request: call => (isKnown(call) ? undefined : attempt(call, beforeOf(call), 0)) };
  },
};

/** A way in all by itself: one of several alternatives is gone through with them. */
export const alone = (step: Step): Step => ({
  name: step.name,
  make: context => (context.model.alternatives.length > 0 ? undefined : step.make(context)),
});

/** A certificate that an alternative asks for is not asked of everybody. */
export const clientCertificatesAlone: Step = {
  name: clientCertificates.name,
  make: context =>
    context.model.alternatives.some(({ certificate }) => certificate) ? undefined : clientCertificates.make(context),
};

function attemptOf({ ways: asked, missing, certificate }: Alternative, context: StepContext): Request[] {
  if (missing !== '') return [call => refuse(call, 'scheme_unconfigured', { name: missing })];
  const modes = asked.map(({ mode }) => mode);
  const requests = asked.map(({ mode, says }) => {
    const model = { ...context.model, modes, authentication: identifying(context.model, modes), [mode]: says };
    return ways[mode]?.make({ ...context, model: model as Model })?.request;
  });
  return [certificate ? clientCertificates.make(context)?.request : undefined, ...requests].filter(it => !!it);
}

/** A way in that is not part of this alternative cannot say who calls: then the last one does. */
function identifying({ authentication }: Model, modes: readonly AuthMode[]): Model['authentication'] {
  const { baseIdentityProvider } = authentication;
  if (modes.some(mode => identities[mode] === baseIdentityProvider)) return authentication;
  return { ...authentication, baseIdentityProvider: '' };
}

function walked(requests: readonly Request[], call: Exchange, from: number): Doing<Outcome> {
  for (let at = from; at < requests.length; at++) {
    const outcome = requests[at]!(call);
    if (outcome instanceof Promise) return outcome.then(it => it ?? walked(requests, call, at + 1));
    if (outcome) return outcome;
  }
  return undefined;
}

type Before = Pick<Exchange, 'keyId' | 'keyHash' | 'session' | 'identityFrom' | 'verified' | 'context' | 'refusal'>;

/** What an attempt may change of a call. */
function beforeOf(call: Exchange): Before {
  const { keyId, keyHash, session, identityFrom, verified, context, refusal } = call;
  return { keyId, keyHash, session, identityFrom, verified, refusal, context: context && { ...context } };
}

function restore(call: Exchange, before: Before): void {
  Object.assign(call, before);
  call.context = before.context && { ...before.context };
}

/** Tools that hold back what they would tell of a call until it is clear that it was not let in. */
function holding(tools: GatewayTools) {
  const held = new WeakMap<object, Parameters<GatewayTools['fire']>[]>();
  const fire: GatewayTools['fire'] = (...told) => {
    const list = held.get(told[1]);
    if (list) list.push(told);
    else held.set(told[1], [told]);
  };
  return {
    tools: { ...tools, fire },
    forget: (call: Exchange) => void held.delete(call),
    tell(call: Exchange) {
      for (const told of held.get(call) ?? []) tools.fire(...told);
      held.delete(call);
    },
  };
}
