import type { BlockList } from 'node:net';
import { deny } from '../auth/auth-result.ts';
import { includesAddress, parseCidrList } from '../pipeline/client-address.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import { ApiCompileError, type Step, type StepReads } from '../pipeline/step.ts';

const reads = { api: ['ipAccess'] } as const satisfies StepReads;

/** IP allow and block lists. */
export const ipAccessStep: Step<Pick<PipelineServices, 'emitEvent'>, typeof reads> = {
  name: 'ip-access',
  reads,
  build({ model, services }) {
    const { enabled, allow, block } = model.ipAccess;
    if (!enabled || allow.length + block.length === 0) return undefined;
    const allowed = allow.length > 0 ? parseIpList(allow) : undefined;
    const blocked = block.length > 0 ? parseIpList(block) : undefined;
    return {
      request(call) {
        const from = call.clientAddress;
        const mayCall = (!allowed || includesAddress(allowed, from)) && !(blocked && includesAddress(blocked, from));
        return mayCall ? undefined : deny(services, call, 'address_refused', from);
      },
    };
  },
};

function parseIpList(list: readonly string[]): BlockList {
  try {
    return parseCidrList(list);
  } catch (cause) {
    throw new ApiCompileError(`an IP list is invalid: ${(cause as Error).message}`);
  }
}
