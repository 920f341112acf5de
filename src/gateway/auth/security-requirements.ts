import type { MaybePromise } from '#base/maybe-promise.ts';
import type { AuthMethod, Model } from '#definition/model.ts';
import type { SecurityRequirement } from '#definition/security-requirements.ts';
import type { Exchange, StepHooks, StepResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { ChainContext, ChainStep, Step, StepReads } from '../pipeline/step.ts';
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

const reads = { api: ['authentication'], also: 'whole definition' } as const satisfies StepReads;

/** A security requirement runs the steps of its methods; that of plugins is supplied. */
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
export const createSecurityRequirementsStep = <S extends Services>(
  pluginAuth: PluginAuth<S>,
): Step<S, typeof reads> => ({
  name: 'alternatives',
  reads,
  build: context =>
    context.model.securityRequirements.length === 0 ? undefined : buildAlternatives(context, pluginAuth),
});

type PluginAuth<S> = Pick<ChainStep<S>, 'build'>;

/** Requirement as it runs: a plugin in it gets the whole body, and may change the request. */
interface Attempt {
  readonly requests: readonly RequestHook[];
  readonly usesPlugin: boolean;
}

function buildAlternatives<S extends Services>(context: ChainContext<S>, pluginAuth: PluginAuth<S>): StepHooks {
  const events = bufferEvents(context.services);
  const maxBytes = context.services.settings['gateway.max_buffered_body_bytes'];
  const attempts = context.model.securityRequirements.map(
    (it): Attempt => ({
      requests: compileRequirement(it, { ...context, services: events.services }, pluginAuth),
      usesPlugin: it.methods.some(({ mode }) => mode === 'custom'),
    }),
  );

  function attempt(call: Exchange, at: number): MaybePromise<StepResult> {
    const { requests, usesPlugin } = attempts[at]!;
    if (usesPlugin && call.body.stream) return call.body.read(maxBytes).then(() => attempt(call, at));
    const restore = usesPlugin ? saveRequest(call) : saveState(call);
    const outcome = runHooks(requests, call, 0);
    return outcome instanceof Promise
      ? outcome.then(it => finishAttempt(call, restore, at, it))
      : finishAttempt(call, restore, at, outcome);
  }

  function finishAttempt(
    call: Exchange,
    restore: () => void,
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
    restore();
    if (at + 1 === attempts.length) {
      call.errorCode = errorCode;
      events.flush(call);
      return refused;
    }
    events.discard(call);
    return attempt(call, at + 1);
  }

  return { request: call => (isAuthenticated(call) ? undefined : attempt(call, 0)) };
}

function compileRequirement<S extends Services>(
  { methods: requiredMethods, missingScheme: missing, requiresCertificate: certificate }: SecurityRequirement,
  context: ChainContext<S>,
  pluginAuth: PluginAuth<S>,
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
    const step = mode === 'custom' ? pluginAuth : authSteps[mode];
    return step?.build({ ...context, model: model as ChainContext<S>['model'] })?.request;
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

/** Saves the fields of an exchange that an attempt may change; the result restores them. */
function saveState(call: Exchange): () => void {
  const { keyId, keyHash, session, authMethod, verifiedToken, errorCode } = call;
  const context = call.context && { ...call.context };
  return () => void Object.assign(call, { keyId, keyHash, session, authMethod, verifiedToken, errorCode, context });
}

/** Saves also the request, which a plugin may change. */
function saveRequest(call: Exchange): () => void {
  const restoreIdentity = saveState(call);
  const { query, rewrittenTarget, upstreamHost, upstreamMethod, body } = call;
  const { bytes } = body;
  const headers = [...call.headers.flat];
  return () => {
    restoreIdentity();
    Object.assign(call, { query, rewrittenTarget, upstreamHost, upstreamMethod });
    call.headers.flat.splice(0, call.headers.flat.length, ...headers);
    if (bytes !== undefined && body.bytes !== bytes) body.replace(bytes);
  };
}

/** Services that buffer events until the outcome of all attempts is known. */
function bufferEvents<S extends Services>(services: S) {
  const buffered = new WeakMap<object, Parameters<Services['emitEvent']>[]>();
  const emitEvent: Services['emitEvent'] = (...event) => {
    const list = buffered.get(event[1]);
    if (list) list.push(event);
    else buffered.set(event[1], [event]);
  };
  return {
    services: { ...services, emitEvent } as S,
    discard: (call: Exchange) => void buffered.delete(call),
    flush(call: Exchange) {
      for (const event of buffered.get(call) ?? []) services.emitEvent(...event);
      buffered.delete(call);
    },
  };
}
