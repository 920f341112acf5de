import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Step } from '../pipeline/step.ts';
import { Deadlines } from '../proxy/timeout-queue.ts';

/** How long the upstream may take: the endpoint's own time, else that of the API, else the gateway's. */
export const enforcedTimeout: Step = {
  name: 'enforced-timeout',
  build({ model, version, services: { settings } }) {
    const { timeout, endpoints } = version;
    const whole = timeout.enabled && timeout.ms > 0 ? new Deadlines(timeout.ms) : undefined;
    const entries = endpoints.enforceTimeout
      .map(({ path, method, ms, seconds }) => ({ path, method, ms: ms || Math.max(0, seconds) * 1000 }))
      .filter(({ ms }) => ms > 0)
      .map(({ path, method, ms }) => ({ path, method, deadlines: new Deadlines(ms) }));
    const matcher = endpointMatcher(entries, { model, version, settings });
    if (!whole && !matcher) return undefined;
    return {
      request(call) {
        call.enforcedTimeout = matcher?.find(call)?.deadlines ?? whole;
        return undefined;
      },
    };
  },
};
