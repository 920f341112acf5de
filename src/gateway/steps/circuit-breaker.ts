import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange, UpstreamResult } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepContext, StepReads } from '../pipeline/step.ts';
import { type CircuitBreaker, createCircuitBreaker } from '../proxy/circuit-breaker.ts';
import { createDiscoveredHosts } from '../proxy/load-balancer.ts';
import type { ProxyServices } from '../proxy/services.ts';

type Entry = StepContext<Services, typeof reads>['version']['endpoints']['circuitBreaker'][number];

type Services = Pick<ProxyServices, 'clock' | 'emitEvent' | 'processCounters' | 'serviceDiscovery' | 'settings'>;

const reads = {
  endpoints: ['circuitBreaker'],
  also: { api: ['listen', 'serviceDiscovery'] },
} as const satisfies StepReads;

/** Circuit breaker per endpoint: rejects requests while the upstream keeps failing. */
export const circuitBreakerStep: Step<Services, typeof reads> = {
  name: 'circuit-breaker',
  reads,
  build(context) {
    const { model, version, services } = context;
    const entries = version.endpoints.circuitBreaker.map(entry => ({
      path: entry.path,
      method: entry.method,
      breaker: buildBreaker(entry, context),
    }));
    const matcher = createEndpointMatcher(entries, { model, version, settings: services.settings });
    if (!matcher) return undefined;
    return {
      request(call) {
        const breaker = matcher.find(call)?.breaker;
        return !breaker || breaker.allows(call) ? undefined : refuse(call, 'circuit_breaker_open');
      },
      onUpstreamResult(call, result) {
        const breaker = matcher.find(call)?.breaker;
        if (breaker) recordResult(breaker, call, result);
      },
    };
  },
};

/** Failures of the upstream, as opposed to those of the client or the gateway. */
const upstreamFailures: ReadonlySet<string> = new Set(['upstream_timeout', 'upstream_dns_failed', 'upstream_failed']);

function recordResult(breaker: CircuitBreaker, call: Exchange, { status, failure }: UpstreamResult): void {
  if (failure === '' && status < 500) breaker.recordSuccess(call);
  else if (failure === '' || upstreamFailures.has(failure)) breaker.recordFailure(call);
}

function buildBreaker(entry: Entry, { model, version, services }: StepContext<Services, typeof reads>): CircuitBreaker {
  const { path, method, threshold, sampleSize, coolDownPeriod, halfOpenStateEnabled } = entry;
  const registry = model.serviceDiscovery.enabled ? createDiscoveredHosts(model, services.serviceDiscovery) : undefined;
  let api: Exchange['api'];
  const emit = (event: string, message: string, circuit_event: number) => {
    for (const name of ['BreakerTriggered', event])
      services.emitEvent(name, { api, path, clientAddress: '' }, message, { circuit_event });
  };
  return createCircuitBreaker(
    {
      name: `${model.identity.id} ${version.key.length}:${version.key} ${method} ${path}`,
      threshold,
      minSamples: sampleSize,
      openMs: coolDownPeriod * 1000,
      isHalfOpenEnabled: halfOpenStateEnabled,
      onTrip(call) {
        api = call.api;
        registry?.refreshSoon();
        emit('BreakerTripped', 'Breaker Tripped', 0);
      },
      onReset: () => emit('BreakerReset', 'Breaker Reset', 1),
    },
    services,
  );
}
