import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Step } from '../pipeline/step.ts';

/** Endpoints that are left out of analytics, and endpoints that are counted by the path the definition gives them. */
export const tracking: Step = {
  name: 'tracking',
  build({ model, version, services: { settings } }) {
    const context = { model, version, settings };
    const hidden = endpointMatcher(version.endpoints.doNotTrackEndpoint, context);
    const counted = endpointMatcher(version.endpoints.trackEndpoint, context);
    if (!hidden && !counted) return undefined;
    return {
      request(call) {
        if (hidden?.find(call)) call.isRecorded = false;
        else call.trackedPath = counted?.find(call)?.path ?? '';
        return undefined;
      },
    };
  },
};
