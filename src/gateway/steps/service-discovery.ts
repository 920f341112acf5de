import type { Step, StepReads } from '../pipeline/step.ts';
import { createDiscoveredHosts } from '../proxy/load-balancer.ts';
import type { ProxyServices } from '../proxy/services.ts';

type Services = Pick<ProxyServices, 'serviceDiscovery'>;

const reads = { api: ['serviceDiscovery'], also: { api: ['listen'] } } as const satisfies StepReads;

/** Refreshes the discovered hosts after an upstream timeout: the host may have moved. */
export const serviceDiscoveryStep: Step<Services, typeof reads> = {
  name: 'discovery',
  reads,
  build({ model, services }) {
    if (!model.serviceDiscovery.enabled) return undefined;
    const registry = createDiscoveredHosts(model, services.serviceDiscovery);
    return {
      onUpstreamResult(_call, { failure }) {
        if (failure === 'upstream_timeout') registry.refreshSoon();
      },
    };
  },
};
