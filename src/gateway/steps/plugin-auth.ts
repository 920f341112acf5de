import { Key } from '#access/keys/schema.ts';
import { Lru } from '#base/lru.ts';
import { deny, isAuthenticated, providesSession, setIdentity } from '../auth/auth-result.ts';
import { applyKeyPolicies, isRefused, keyIdOfIdentity } from '../auth/derived-session.ts';
import type { AuthServices } from '../auth/services.ts';
import { noBytes } from '../http/body.ts';
import type { Exchange, StepResult } from '../pipeline/exchange.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { type HookReturn, withPluginReads } from '../plugins/driver.ts';
import { watchHook } from '../plugins/hook-changes.ts';
import { createIdExtractor } from '../plugins/id-extractor.ts';
import { PluginError } from '../plugins/plugin-runner.ts';
import { type ApiPlugins, loadApiPlugins } from '../plugins/plugin-set.ts';
import { applyRequestResult, readResultObject, readResultText } from '../plugins/request-hook.ts';
import { failPlugin, logMessages, runPlugin } from '../plugins/run-hook.ts';
import type { PluginServices } from '../plugins/services.ts';

type Services = PluginServices & Pick<AuthServices, 'keyCache' | 'emitEvent'>;

const reads = withPluginReads('listen', 'authMethods', 'authentication', 'idExtractor') satisfies StepReads;

/** Sessions of clients that an id extractor found, for each API. */
const maxCachedSessions = 5000;

/** Authentication by a plugin: its hook returns the session of the client and a value that identifies it. */
export const pluginAuthStep: Step<Services, typeof reads> = {
  name: 'plugin-auth',
  reads,
  build(context) {
    if (!context.model.authMethods.includes('custom')) return undefined;
    const plugins = loadApiPlugins(context)!;
    const authenticate = createAuthenticator(context, plugins);
    const maxBytes = context.services.settings['gateway.max_buffered_body_bytes'];
    return {
      request(call) {
        if (isAuthenticated(call)) return undefined;
        return call.body.stream ? call.body.read(maxBytes).then(() => authenticate(call)) : authenticate(call);
      },
    };
  },
};

function createAuthenticator({ model, services }: StepContext<Services, typeof reads>, { hooks, driver }: ApiPlugins) {
  const { orgId } = model.identity;
  const [hook] = hooks.auth;
  const rules = { stripsListenPath: model.listen.strip, skipsResponseSteps: true };
  const isBase = providesSession(model, 'custom');
  const refuseClient = (call: Exchange) => deny(services, call, 'plugin_auth_failed', call.clientAddress);
  const extractId = createIdExtractor(model.idExtractor);
  /** Sessions by key id; policies are applied again by each request. */
  const cachedSessions = new Lru<string, Key>(maxCachedSessions);
  const isCurrent = ({ id_extractor_deadline: deadline = 0 }: Key) => deadline * 1000 > services.clock.now();

  async function setSession(call: Exchange, session: Key, keyId: string): Promise<StepResult> {
    const result = await applyKeyPolicies(services, orgId, keyId, { ...session, org_id: orgId });
    if (isRefused(result)) {
      services.log.warn({ api: call.api?.id, reason: result.message }, 'plugin session refused');
      return refuseClient(call);
    }
    if (isBase) setIdentity(call, result, 'custom');
    if (extractId && isCurrent(session)) cachedSessions.set(keyId, session);
    return undefined;
  }

  function apply(
    call: Exchange,
    { members, logs }: HookReturn,
    id: string,
    finish: ReturnType<typeof watchHook>,
  ): StepResult | Promise<StepResult> {
    logMessages(services, call, logs);
    const response = applyRequestResult(call, readResultObject(members.Request, 'Request'), rules);
    finish?.();
    if (response) {
      services.emitEvent('AuthFailure', call, 'Auth Failure', { key: call.clientAddress });
      return response;
    }
    const authValue = readResultText(members.AuthValue, 'AuthValue') ?? '';
    if (members.Session === undefined || authValue === '') return refuseClient(call);
    return setSession(call, parseSession(members.Session), keyIdOfIdentity(orgId, 'plugin', id || authValue));
  }

  function runHook(call: Exchange, id: string): StepResult | Promise<StepResult> {
    const finish = watchHook(call, hook!.functionName);
    return runPlugin(
      () => driver.runRequestHook(hook!, 'auth', call, call.body.bytes ?? noBytes),
      result => apply(call, result, id, finish),
      error => {
        finish?.(error);
        return failPlugin(services, call, error, 'plugin_failed');
      },
    );
  }
  if (!extractId) return (call: Exchange) => runHook(call, '');
  return (call: Exchange) => {
    const id = extractId(call);
    if (id === '') return deny(services, call, 'plugin_id_missing', call.clientAddress);
    const keyId = keyIdOfIdentity(orgId, 'plugin', id);
    const session = cachedSessions.get(keyId);
    return session && isCurrent(session) ? setSession(call, session, keyId) : runHook(call, id);
  };
}

/** The session is a key; what a key cannot have fails the plugin. */
function parseSession(given: unknown): Key {
  const parsed = Key.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PluginError('runtime', `Session.${issue?.path.join('.')}: ${issue?.message}`);
}
