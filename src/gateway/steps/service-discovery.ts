import type { Step } from '../pipeline/step.ts';
import { createDiscoveredHosts } from '../proxy/load-balancer.ts';

/** A host that takes too long may no longer be where the registry said it is. */
export const serviceDiscoveryStep: Step = {
  name: 'discovery',
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
