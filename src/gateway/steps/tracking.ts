import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'settings'>;

const reads = { api: ['trafficLogs'], endpoints: ['trackEndpoint', 'doNotTrackEndpoint'] } as const satisfies StepReads;

/** Analytics per endpoint: untracked endpoints, and endpoints recorded under their configured path. */
export const trackingStep: Step<Services, typeof reads> = {
  name: 'tracking',
  reads,
  build({ model, version, services: { settings } }) {
    const context = { model, version, settings };
    const untracked = createEndpointMatcher(version.endpoints.doNotTrackEndpoint, context);
    const tracked = createEndpointMatcher(version.endpoints.trackEndpoint, context);
    if (!untracked && !tracked) return undefined;
    return {
      request(call) {
        if (untracked?.find(call)) call.isRecorded = false;
        else call.trackedPath = tracked?.find(call)?.path ?? '';
        return undefined;
      },
    };
  },
};
