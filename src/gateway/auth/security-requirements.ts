import type { MaybePromise } from '#base/maybe-promise.ts';
import type { AuthMethod, Model } from '#definition/model.ts';
import type { SecurityRequirement } from '#definition/security-requirements.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepHooks, StepResult } from '../pipeline/step.ts';
import { identityProviderNames, isAuthenticated } from './auth-result.ts';
import { basicAuthStep } from './basic.ts';
import { clientCertificatesStep } from './client-certificates.ts';
import { externalOAuthStep } from './external-oauth.ts';
import { hmacStep } from './hmac.ts';
import { jwtStep } from './jwt.ts';
import { oauthTokenStep } from './oauth/token-step.ts';
import { oidcStep } from './oidc.ts';
import type { AuthServices } from './services.ts';
import { authTokenStep } from './token.ts';

const authSteps: Partial<Record<AuthMethod, Step>> = {
  oauth: oauthTokenStep,
  externalOAuth: externalOAuthStep,
  basic: basicAuthStep,
  hmac: hmacStep,
  jwt: jwtStep,
  oidc: oidcStep,
  token: authTokenStep,
};

type RequestHook = NonNullable<StepHooks['request']>;

/**
 * Several ways in, any of which will do. Each is tried as if it were the only one: what it found out, and whom it told, is
 * forgotten when it fails. The last one's refusal is what a caller hears that none of them lets in.
 */
export const securityRequirementsStep: Step<AuthServices> = {
  name: 'alternatives',
  build(context) {
    const { model } = context;
    if (model.alternatives.length === 0) return undefined;
    const events = bufferEvents(context.services);
    const attempts = model.alternatives.map(it => compileRequirement(it, { ...context, services: events.services }));

    function attempt(call: Exchange, before: IdentityState, at: number): MaybePromise<StepResult> {
      const outcome = runHooks(attempts[at]!, call, 0);
      return outcome instanceof Promise
        ? outcome.then(it => finishAttempt(call, before, at, it))
        : finishAttempt(call, before, at, outcome);
    }

    function finishAttempt(
      call: Exchange,
      before: IdentityState,
      at: number,
      outcome: StepResult,
    ): MaybePromise<StepResult> {
      const refused = outcome ?? (call.session ? undefined : refuse(call, 'session_missing'));
      if (!refused) {
        call.matchedAlternative = at;
        events.discard(call);
        return undefined;
      }
      const { errorCode } = call;
      restoreState(call, before);
      if (at + 1 === attempts.length) {
        call.errorCode = errorCode;
        events.flush(call);
        return refused;
      }
      events.discard(call);
      return attempt(call, before, at + 1);
    }

    return { request: call => (isAuthenticated(call) ? undefined : attempt(call, saveState(call), 0)) };
  },
};

/** A way in all by itself: one of several alternatives is gone through with them. */
export const unlessRequirements = (step: Step<AuthServices>): Step<AuthServices> => ({
  name: step.name,
  build: context => (context.model.alternatives.length > 0 ? undefined : step.build(context)),
});

/** A certificate that an alternative asks for is not asked of everybody. */
export const clientCertificatesUnlessRequired: Step<AuthServices> = {
  name: clientCertificatesStep.name,
  build: context =>
    context.model.alternatives.some(({ requiresCertificate: certificate }) => certificate)
      ? undefined
      : clientCertificatesStep.build(context),
};

function compileRequirement(
  { methods: asked, missingScheme: missing, requiresCertificate: certificate }: SecurityRequirement,
  context: StepContext<AuthServices>,
): RequestHook[] {
  if (missing !== '') return [call => refuse(call, 'security_scheme_unconfigured', { name: missing })];
  const modes = asked.map(({ mode }) => mode);
  const requests = asked.map(({ mode, config }) => {
    const model = {
      ...context.model,
      modes,
      authentication: resolveIdentityProvider(context.model, modes),
      [mode]: config,
    };
    return authSteps[mode]?.build({ ...context, model: model as Model })?.request;
  });
  return [certificate ? clientCertificatesStep.build(context)?.request : undefined, ...requests].filter(it => !!it);
}

/** A way in that is not part of this alternative cannot say who calls: then the last one does. */
function resolveIdentityProvider({ authentication }: Model, modes: readonly AuthMethod[]): Model['authentication'] {
  const { baseIdentityProvider } = authentication;
  if (modes.some(mode => identityProviderNames[mode] === baseIdentityProvider)) return authentication;
  return { ...authentication, baseIdentityProvider: '' };
}

function runHooks(requests: readonly RequestHook[], call: Exchange, from: number): MaybePromise<StepResult> {
  for (let at = from; at < requests.length; at++) {
    const outcome = requests[at]!(call);
    if (outcome instanceof Promise) return outcome.then(it => it ?? runHooks(requests, call, at + 1));
    if (outcome) return outcome;
  }
  return undefined;
}

type IdentityState = Pick<
  Exchange,
  'keyId' | 'keyHash' | 'session' | 'authMethod' | 'verifiedToken' | 'context' | 'errorCode'
>;

/** What an attempt may change of a call. */
function saveState(call: Exchange): IdentityState {
  const { keyId, keyHash, session, authMethod, verifiedToken, context, errorCode } = call;
  return { keyId, keyHash, session, authMethod, verifiedToken, errorCode, context: context && { ...context } };
}

function restoreState(call: Exchange, before: IdentityState): void {
  Object.assign(call, before);
  call.context = before.context && { ...before.context };
}

/** Tools that hold back what they would tell of a call until it is clear that it was not let in. */
function bufferEvents(services: AuthServices) {
  const buffered = new WeakMap<object, Parameters<AuthServices['emitEvent']>[]>();
  const fire: AuthServices['emitEvent'] = (...event) => {
    const list = buffered.get(event[1]);
    if (list) list.push(event);
    else buffered.set(event[1], [event]);
  };
  return {
    services: { ...services, fire },
    discard: (call: Exchange) => void buffered.delete(call),
    flush(call: Exchange) {
      for (const event of buffered.get(call) ?? []) services.emitEvent(...event);
      buffered.delete(call);
    },
  };
}
