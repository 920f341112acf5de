import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, UpstreamResult } from '../pipeline/step.ts';
import { type Breaker, breakerOf } from '../proxy/circuit-breaker.ts';
import { registeredHosts } from '../proxy/load-balancer.ts';

type Entry = StepContext['version']['endpoints']['circuitBreaker'][number];

/** Calls to an upstream that keeps failing are refused for a while, endpoint by endpoint. */
export const circuitBreaker: Step = {
  name: 'circuit-breaker',
  build(context) {
    const { model, version, services } = context;
    const entries = version.endpoints.circuitBreaker.map(entry => ({
      path: entry.path,
      method: entry.method,
      breaker: made(entry, context),
    }));
    const matcher = endpointMatcher(entries, { model, version, settings: services.settings });
    if (!matcher) return undefined;
    return {
      request(call) {
        const breaker = matcher.find(call)?.breaker;
        return !breaker || breaker.admits(call) ? undefined : refuse(call, 'breaker_open');
      },
      onUpstreamResult(call, result) {
        const breaker = matcher.find(call)?.breaker;
        if (breaker) judge(breaker, call, result);
      },
    };
  },
};

/** What the caller, or the gateway itself, brought about says nothing of the upstream. */
const ofUpstream: ReadonlySet<string> = new Set(['upstream_timeout', 'upstream_lookup', 'upstream_failed']);

function judge(breaker: Breaker, call: Exchange, { status, failure }: UpstreamResult): void {
  if (failure === '' && status < 500) breaker.succeeded(call);
  else if (failure === '' || ofUpstream.has(failure)) breaker.failed(call);
}

function made(entry: Entry, { model, version, services }: StepContext): Breaker {
  const { path, method, threshold, sampleSize, coolDownPeriod, halfOpenStateEnabled } = entry;
  const registry = model.serviceDiscovery.enabled ? registeredHosts(model, services.serviceDiscovery) : undefined;
  let api: Exchange['api'];
  const tell = (event: string, message: string, circuit_event: number) => {
    for (const name of ['BreakerTriggered', event])
      services.emitEvent(name, { api, path, clientAddress: '' }, message, { circuit_event });
  };
  return breakerOf(
    {
      name: `${model.identity.id} ${version.key.length}:${version.key} ${method} ${path}`,
      threshold,
      samples: sampleSize,
      openMs: coolDownPeriod * 1000,
      probes: halfOpenStateEnabled,
      onTrip(call) {
        api = call.api;
        registry?.doubt();
        tell('BreakerTripped', 'Breaker Tripped', 0);
      },
      onReset: () => tell('BreakerReset', 'Breaker Reset', 1),
    },
    services,
  );
}
