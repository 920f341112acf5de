import { isExpired } from '#access/keys/session.ts';
import { deny } from '../auth/auth-result.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'clock' | 'emitEvent'>;

const reads = { also: { api: ['authMethods'] } } as const satisfies StepReads;

/** Key state: the request has a session whose key is active and not expired. */
export const keyStateStep: Step<Services, typeof reads> = {
  name: 'key-state',
  reads,
  build({ model, services }) {
    if (model.authMethods.length === 0) return undefined;
    return {
      request(call) {
        if (call.skipsAuth) return undefined;
        const { session } = call;
        if (!session) return refuse(call, 'session_missing');
        if (session.inactive)
          return deny(services, call, 'key_inactive', call.keyHash, 'Attempted access from inactive key.');
        if (isExpired(session, services.clock.now()))
          return deny(services, call, 'key_expired', call.keyHash, 'Attempted access from expired key.');
        return undefined;
      },
    };
  },
};
