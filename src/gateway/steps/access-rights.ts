import { findRight } from '#access/keys/session.ts';
import { hasOwnVersions } from '#definition/model.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const reads = { also: { api: ['authMethods'] } } as const satisfies StepReads;

/** Access rights: the key has a right on this API and this version. */
export const accessRightsStep: Step<unknown, typeof reads> = {
  name: 'access-rights',
  reads,
  build({ model }) {
    if (model.authMethods.length === 0) return undefined;
    const { id } = model.identity;
    const versioned = hasOwnVersions(model);
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const { session } = call;
        const right = session && findRight(session, id);
        if (!right) return refuse(call, 'api_not_granted');
        const granted = !versioned || session.everyApi || right.versions.includes(call.versionName);
        return granted ? undefined : refuse(call, 'api_not_granted');
      },
    };
  },
};
