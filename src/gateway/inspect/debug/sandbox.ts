import { loopName } from '#definition/loop-name.ts';
import { createThreadsShared } from '#storage/shared/threads.ts';
import { createDisabledCache } from '../../cache/disabled-cache.ts';
import { type Api, compileApi } from '../../routing/api.ts';
import { noSubsets } from '../../routing/api-subsets.ts';
import { Router } from '../../routing/router.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { StepServices } from '../../steps/step-services.ts';
import { problem } from './problems.ts';
import { createTraceLog, type Trace } from './trace.ts';
import { traceApi } from './traced-api.ts';

/** Read-only services that a debug run shares; it gets its own of all others, so that it leaves no trace behind. */
type SharedServices =
  | 'settings'
  | 'addressPolicies'
  | 'networkFor'
  | 'clock'
  | 'keyCache'
  | 'certificates'
  | 'organisationLimits'
  | 'grants'
  | 'secrets'
  | 'isContextName'
  | 'outbound'
  | 'pluginRunner'
  | 'grpcPlugins'
  | 'trustedModules'
  | 'pluginBundles'
  | 'jwks'
  | 'oauthTokens'
  | 'serviceDiscovery'
  | 'upstreamAuthorities';

/** Counter slots for one request. */
const counterSlots = { fixedWindows: 256, slidingWindows: 64 };

export interface Sandbox {
  readonly services: StepServices;
  close(): Promise<void>;
}

export function createSandbox(services: StepServices, trace: Trace): Sandbox {
  const shared = createThreadsShared(counterSlots);
  const own: Omit<StepServices, SharedServices> = {
    log: createTraceLog(trace, services.log),
    counters: shared.counters,
    responseCache: createDisabledCache(),
    processCounters: shared.counters,
    rpc: () => Promise.reject(problem.nothing_written()),
    emitEvent: (event, call, message) =>
      trace.note({ level: 'info', type: trace.phase, msg: `${message} (would emit ${event})` }, call.api),
  };
  return { services: { ...services, ...own }, close: () => shared.close() };
}

/**
 * Sandbox snapshot: the API under test at its listen path on any host, and copies of the APIs it loops to, so that
 * their counters stay untouched.
 */
export function createSandboxSnapshot(current: Snapshot, own: Api, services: StepServices, trace: Trace): Snapshot {
  const apis = new Map<string, Api>();
  const ownNames = new Set([own.id, own.databaseId, loopName(own.name)]);

  function addApi(api: Api): Api {
    apis.set(api.id, api);
    const { enabled, versions } = api.model.versioning;
    for (const id of enabled ? Object.values(versions) : []) copyApi(current.apis.get(id));
    return api;
  }

  function copyApi(api: Api | undefined): Api | undefined {
    const known = api && apis.get(api.id);
    if (!api || known) return known;
    try {
      return addApi(traceApi(compileApi(api.model, services, api), trace));
    } catch (error) {
      services.log.error({ err: error, api: api.id }, 'loop target not compiled');
      return undefined;
    }
  }

  addApi(own);
  const rules = { prefix: services.settings['gateway.listen_path_match'] === 'prefix' };
  return {
    revision: current.revision,
    router: new Router<Api>(rules).withChanges([{ host: '', listenPath: own.listenPath, value: own }]),
    ports: new Map(),
    guard: undefined,
    hasTenants: current.hasTenants,
    reservedHosts: current.reservedHosts,
    apis,
    subsets: noSubsets,
    findByName: (orgId, name) =>
      orgId === own.orgId && (ownNames.has(name) || ownNames.has(loopName(name)))
        ? own
        : copyApi(current.findByName(orgId, name)),
  };
}
