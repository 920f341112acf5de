import type { AuthMethod, Model } from '#definition/model.ts';
import type { SecurityRequirement } from '#definition/security-requirements.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { MaybePromise, Step, StepContext, StepHooks, StepResult } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { identities, isKnown } from './auth-result.ts';
import { basic } from './basic.ts';
import { clientCertificates } from './client-certificates.ts';
import { externalOAuth } from './external-oauth.ts';
import { hmac } from './hmac.ts';
import { jwt } from './jwt.ts';
import { oauth } from './oauth/token-step.ts';
import { oidc } from './oidc.ts';
import { token } from './token.ts';

const ways: Partial<Record<AuthMethod, Step>> = { oauth, externalOAuth, basic, hmac, jwt, oidc, token };

type Request = NonNullable<StepHooks['request']>;

/**
 * Several ways in, any of which will do. Each is tried as if it were the only one: what it found out, and whom it told, is
 * forgotten when it fails. The last one's refusal is what a caller hears that none of them lets in.
 */
export const alternatives: Step = {
  name: 'alternatives',
  build(context) {
    const { model } = context;
    if (model.alternatives.length === 0) return undefined;
    const held = holding(context.services);
    const attempts = model.alternatives.map(it => attemptOf(it, { ...context, services: held.services }));

    function attempt(call: Exchange, before: Before, at: number): MaybePromise<StepResult> {
      const outcome = walked(attempts[at]!, call, 0);
      return outcome instanceof Promise
        ? outcome.then(it => settled(call, before, at, it))
        : settled(call, before, at, outcome);
    }

    function settled(call: Exchange, before: Before, at: number, outcome: StepResult): MaybePromise<StepResult> {
      const refused = outcome ?? (call.session ? undefined : refuse(call, 'no_session'));
      if (!refused) {
        call.matchedAlternative = at;
        held.forget(call);
        return undefined;
      }
      const { errorCode } = call;
      restore(call, before);
      if (at + 1 === attempts.length) {
        call.errorCode = errorCode;
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
  build: context => (context.model.alternatives.length > 0 ? undefined : step.build(context)),
});

/** A certificate that an alternative asks for is not asked of everybody. */
export const clientCertificatesAlone: Step = {
  name: clientCertificates.name,
  build: context =>
    context.model.alternatives.some(({ requiresCertificate: certificate }) => certificate)
      ? undefined
      : clientCertificates.build(context),
};

function attemptOf(
  { methods: asked, missingScheme: missing, requiresCertificate: certificate }: SecurityRequirement,
  context: StepContext,
): Request[] {
  if (missing !== '') return [call => refuse(call, 'scheme_unconfigured', { name: missing })];
  const modes = asked.map(({ mode }) => mode);
  const requests = asked.map(({ mode, says }) => {
    const model = { ...context.model, modes, authentication: identifying(context.model, modes), [mode]: says };
    return ways[mode]?.build({ ...context, model: model as Model })?.request;
  });
  return [certificate ? clientCertificates.build(context)?.request : undefined, ...requests].filter(it => !!it);
}

/** A way in that is not part of this alternative cannot say who calls: then the last one does. */
function identifying({ authentication }: Model, modes: readonly AuthMethod[]): Model['authentication'] {
  const { baseIdentityProvider } = authentication;
  if (modes.some(mode => identities[mode] === baseIdentityProvider)) return authentication;
  return { ...authentication, baseIdentityProvider: '' };
}

function walked(requests: readonly Request[], call: Exchange, from: number): MaybePromise<StepResult> {
  for (let at = from; at < requests.length; at++) {
    const outcome = requests[at]!(call);
    if (outcome instanceof Promise) return outcome.then(it => it ?? walked(requests, call, at + 1));
    if (outcome) return outcome;
  }
  return undefined;
}

type Before = Pick<
  Exchange,
  'keyId' | 'keyHash' | 'session' | 'authMethod' | 'verifiedToken' | 'context' | 'errorCode'
>;

/** What an attempt may change of a call. */
function beforeOf(call: Exchange): Before {
  const { keyId, keyHash, session, authMethod, verifiedToken, context, errorCode } = call;
  return { keyId, keyHash, session, authMethod, verifiedToken, errorCode, context: context && { ...context } };
}

function restore(call: Exchange, before: Before): void {
  Object.assign(call, before);
  call.context = before.context && { ...before.context };
}

/** Tools that hold back what they would tell of a call until it is clear that it was not let in. */
function holding(services: StepServices) {
  const held = new WeakMap<object, Parameters<StepServices['emitEvent']>[]>();
  const fire: StepServices['emitEvent'] = (...told) => {
    const list = held.get(told[1]);
    if (list) list.push(told);
    else held.set(told[1], [told]);
  };
  return {
    services: { ...services, fire },
    forget: (call: Exchange) => void held.delete(call),
    tell(call: Exchange) {
      for (const told of held.get(call) ?? []) services.emitEvent(...told);
      held.delete(call);
    },
  };
}
