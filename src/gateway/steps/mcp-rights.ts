import { findRight } from '#access/keys/session.ts';
import { createRightsCache } from '../mcp/rights.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const reads = { api: ['mcp'], also: { api: ['authMethods'] } } as const satisfies StepReads;

/** Rights of the key to JSON-RPC methods and primitives. */
export const mcpRightsStep: Step<unknown, typeof reads> = {
  name: 'mcp-rights',
  reads,
  build({ model }) {
    if (!model.mcp || model.authMethods.length === 0) return undefined;
    const { id } = model.identity;
    const compile = createRightsCache();
    return {
      request(call) {
        const right = call.skipsAuth || !call.session ? undefined : findRight(call.session, id);
        const rights = right && compile(right);
        if (!rights) return undefined;
        const message = call.rpcMessage;
        if (!message) return call.body.isEmpty ? undefined : refuse(call, 'rpc_media_type');
        const { method, primitiveType, primitiveName } = message;
        if (method !== '' && !rights.allowsMethod(method)) return refuse(call, 'rpc_method_not_granted');
        if (primitiveType !== '' && !rights.allowsPrimitive(primitiveType, primitiveName))
          return refuse(call, 'mcp_primitive_not_granted');
        return undefined;
      },
    };
  },
};
