import { createMcpAccessLists } from '../mcp/access-lists.ts';
import { createPrimitiveResolver } from '../mcp/primitive-names.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { isVirtualPath } from '../pipeline/virtual-match.ts';
import { isPreflight } from './endpoint-access.ts';

type Services = Pick<PipelineServices, 'emitEvent' | 'settings'>;

const reads = { also: 'whole definition' } as const satisfies StepReads;

/** Access lists of an MCP proxy: of HTTP endpoints, JSON-RPC methods, tools, resources and prompts. */
export const mcpAccessStep: Step<Services, typeof reads> = {
  name: 'mcp-access',
  reads,
  build({ model, version, services }) {
    if (!model.mcp) return undefined;
    const { allow, block, ignoreAuthentication } = version.endpoints;
    const answersPreflights = model.cors.enabled && !model.cors.optionsPassthrough;
    if (allow.length + block.length + ignoreAuthentication.length === 0 && !answersPreflights) return undefined;
    const context = { model, version, settings: services.settings };
    const resolve = createPrimitiveResolver(model.mcp.paths);
    const lists = createMcpAccessLists(version.endpoints, model.mcp.paths, resolve);
    const blockList = createEndpointMatcher(block, context);
    const httpAllowList = createEndpointMatcher(
      allow.filter(({ path }) => !isVirtualPath(path)),
      context,
    );
    const openList = createEndpointMatcher(ignoreAuthentication, context);

    const allows = (call: Exchange): boolean => {
      const message = call.rpcMessage;
      if (blockList?.find(call) || (httpAllowList && !httpAllowList.find(call))) return false;
      if (!message || message.method === '') return true;
      const { method, primitiveType, primitivePath, otherPath } = message;
      if (!lists.allowsMethod(method)) return false;
      if (primitiveType === '') return true;
      return (
        lists.allowsPath(primitiveType, primitivePath) &&
        (otherPath === '' || lists.allowsPath(primitiveType, otherPath))
      );
    };

    return {
      request(call) {
        if (answersPreflights && isPreflight(call)) call.skipsAuth = true;
        else if (!allows(call)) return refuseAccess(services, call, 'endpoint_forbidden');
        else if (openList?.find(call)) call.skipsAuth = true;
        return undefined;
      },
    };
  },
};
