import { TimeoutQueue } from '#base/timeout-queue.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'settings'>;

const reads = { version: ['timeout'], endpoints: ['enforceTimeout'] } as const satisfies StepReads;

/** Upstream timeout: of the endpoint, else of the API, else of the gateway. */
export const enforcedTimeoutStep: Step<Services, typeof reads> = {
  name: 'enforced-timeout',
  reads,
  build({ model, version, services: { settings } }) {
    const { timeout, endpoints } = version;
    const apiTimeouts = timeout.enabled && timeout.ms > 0 ? new TimeoutQueue(timeout.ms) : undefined;
    const entries = endpoints.enforceTimeout
      .map(({ path, method, ms, seconds }) => ({ path, method, ms: ms || Math.max(0, seconds) * 1000 }))
      .filter(({ ms }) => ms > 0)
      .map(({ path, method, ms }) => ({ path, method, deadlines: new TimeoutQueue(ms) }));
    const matcher = createEndpointMatcher(entries, { model, version, settings });
    if (!apiTimeouts && !matcher) return undefined;
    return {
      request(call) {
        call.enforcedTimeout = matcher?.find(call)?.deadlines ?? apiTimeouts;
        return undefined;
      },
    };
  },
};
