import type { Exchange } from '../../pipeline/exchange.ts';
import type { Api } from '../../routing/api.ts';
import { noSubsets } from '../../routing/api-subsets.ts';
import type { Snapshot } from '../../routing/snapshot.ts';
import type { Trace } from '../debug/trace.ts';
import { traceApi } from '../debug/traced-api.ts';

/**
 * Snapshot for one explained request: the APIs it passes are traced. Steps, counters and cached responses are the
 * real ones, so that tracing changes nothing.
 */
export function createExplainedSnapshot(current: Snapshot, call: Exchange, trace: Trace): Snapshot {
  const tracedApis = new Map<Api, Api>();
  const traceOnce = (api: Api): Api => {
    const found = tracedApis.get(api);
    if (found) return found;
    if (api.unavailableReason !== '')
      trace.note(
        { level: 'error', type: 'request', mw: 'api', msg: `The API is not served: ${api.unavailableReason}` },
        api,
      );
    const made = traceApi(api, trace);
    tracedApis.set(api, made);
    return made;
  };
  const port = call.peer.port ?? 0;
  const router = port ? current.ports.get(port) : current.router;
  const found = router?.find(call.host, call.path, current.guard)?.value;
  const own = current.router
    .createEmpty()
    .withChanges(found ? [{ host: found.host, listenPath: found.listenPath, value: traceOnce(found) }] : []);
  return {
    revision: current.revision,
    router: port ? current.router : own,
    ports: port ? new Map([[port, own]]) : new Map(),
    guard: current.guard,
    reservedHosts: current.reservedHosts,
    hasTenants: current.hasTenants,
    apis: new TracedApis(current.apis, traceOnce),
    subsets: noSubsets,
    findByName(orgId, name) {
      const named = current.findByName(orgId, name);
      return named && traceOnce(named);
    },
  };
}

/** Traces APIs on lookup: of thousands, one request meets a few. */
class TracedApis extends Map<string, Api> {
  readonly #all: ReadonlyMap<string, Api>;
  readonly #traced: (api: Api) => Api;

  constructor(all: ReadonlyMap<string, Api>, traceOnce: (api: Api) => Api) {
    super();
    this.#all = all;
    this.#traced = traceOnce;
  }

  override get(id: string): Api | undefined {
    const found = this.#all.get(id);
    return found && this.#traced(found);
  }
}
