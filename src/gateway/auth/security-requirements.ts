import type { MaybePromise } from '#base/maybe-promise.ts';
import { authMethods } from '#definition/auth-methods.ts';
import type { AuthMethod, Model } from '#definition/model.ts';
import type { SecurityRequirement } from '#definition/security-requirements.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
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

/** The services of all auth steps. */
type Services = Pick<
  AuthServices,
  | 'certificates'
  | 'clock'
  | 'emitEvent'
  | 'isContextName'
  | 'jwks'
  | 'keyCache'
  | 'log'
  | 'oauthTokens'
  | 'outbound'
  | 'secrets'
  | 'settings'
>;

const reads = {
  api: ['authentication'],
  also: {
    api: ['securityRequirements', 'clientCertificates', 'oauth2', 'versions', 'authMethods', ...authMethods],
  },
} as const satisfies StepReads;

type Context = StepContext<Services, typeof reads>;

/** A security requirement runs the steps of its methods. */
const authSteps: Partial<Record<AuthMethod, Pick<Step<Services, typeof reads>, 'build'>>> = {
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
 * OpenAPI security requirements, OR-ed. Each is tried in isolation; on failure its changes to the exchange and its events
 * are discarded. If all fail, the last error is returned.
 */
export const securityRequirementsStep: Step<Services, typeof reads> = {
  name: 'alternatives',
  reads,
  build(context) {
    const { model } = context;
    if (model.securityRequirements.length === 0) return undefined;
    const events = bufferEvents(context.services);
    const attempts = model.securityRequirements.map(it =>
      compileRequirement(it, { ...context, services: events.services }),
    );

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

function compileRequirement(
  { methods: requiredMethods, missingScheme: missing, requiresCertificate: certificate }: SecurityRequirement,
  context: Context,
): RequestHook[] {
  if (missing !== '') return [call => refuse(call, 'security_scheme_unconfigured', { name: missing })];
  const authMethods = requiredMethods.map(({ mode }) => mode);
  const requests = requiredMethods.map(({ mode, config }) => {
    const model = {
      ...context.model,
      authMethods,
      authentication: resolveIdentityProvider(context.model, authMethods),
      [mode]: config,
    };
    return authSteps[mode]?.build({ ...context, model: model as Context['model'] })?.request;
  });
  return [certificate ? clientCertificatesStep.build(context)?.request : undefined, ...requests].filter(it => !!it);
}

/** A base identity provider outside this requirement is ignored: the last method sets the session. */
function resolveIdentityProvider(
  { authentication }: Pick<Model, 'authentication'>,
  authMethods: readonly AuthMethod[],
): Model['authentication'] {
  const { baseIdentityProvider } = authentication;
  if (authMethods.some(mode => identityProviderNames[mode] === baseIdentityProvider)) return authentication;
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

/** The fields of an exchange that an attempt may change. */
function saveState(call: Exchange): IdentityState {
  const { keyId, keyHash, session, authMethod, verifiedToken, context, errorCode } = call;
  return { keyId, keyHash, session, authMethod, verifiedToken, errorCode, context: context && { ...context } };
}

function restoreState(call: Exchange, before: IdentityState): void {
  Object.assign(call, before);
  call.context = before.context && { ...before.context };
}

/** Services that buffer events until the outcome of all attempts is known. */
function bufferEvents(services: Services) {
  const buffered = new WeakMap<object, Parameters<Services['emitEvent']>[]>();
  const emitEvent: Services['emitEvent'] = (...event) => {
    const list = buffered.get(event[1]);
    if (list) list.push(event);
    else buffered.set(event[1], [event]);
  };
  return {
    services: { ...services, emitEvent },
    discard: (call: Exchange) => void buffered.delete(call),
    flush(call: Exchange) {
      for (const event of buffered.get(call) ?? []) services.emitEvent(...event);
      buffered.delete(call);
    },
  };
}
