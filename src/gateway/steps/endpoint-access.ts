import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import { loadMockResponse } from './lazy-mock-response.ts';

type Services = Pick<PipelineServices, 'emitEvent' | 'settings'>;

const reads = {
  endpoints: ['ignoreAuthentication', 'block', 'allow', 'internal'],
  also: { api: ['cors', 'document'], endpoints: ['mockResponse'] },
} as const satisfies StepReads;

/** Endpoint lists: ignore authentication, block, allow, internal. */
export const endpointAccessStep: Step<Services, typeof reads> = {
  name: 'endpoint-access',
  reads,
  build(stepContext) {
    const { model, version, services } = stepContext;
    // MCP proxies have access lists of their own.
    if (model.format === 'mcp') return undefined;
    const { ignoreAuthentication, block, allow, internal } = version.endpoints;
    const context = { model, version, settings: services.settings };
    const openList = createEndpointMatcher(ignoreAuthentication, context);
    const blockList = createEndpointMatcher(block, context);
    const allowList = createEndpointMatcher(allow, context);
    const internalList = createEndpointMatcher(internal, context);
    const hasMocks = version.endpoints.mockResponse.length > 0;
    const mocks = hasMocks ? loadMockResponse().createClassicMocks(stepContext) : undefined;
    const mocksFirst = services.settings['gateway.classic_mocks_first'];
    const answersPreflights = model.cors.enabled && !model.cors.optionsPassthrough;
    if (!openList && !blockList && !allowList && !internalList && !answersPreflights && !(mocks && mocksFirst))
      return undefined;

    const refuseEndpoint = (call: Exchange) => refuseAccess(services, call, 'endpoint_forbidden');

    return {
      request(call) {
        if (answersPreflights && isPreflight(call)) {
          call.skipsAuth = true;
          return undefined;
        }
        const isInternal = internalList?.find(call) !== undefined;
        if (isInternal && call.loopCount === call.entryLoopCount) return refuseEndpoint(call);
        // Mocks are exempt from the lists below; authentication applies later, unless the setting puts mocks first.
        const mock = mocks?.find(call);
        if (mock && mocksFirst) {
          call.isRecorded = false;
          return mock.respond(call);
        }
        if (openList?.find(call)) {
          call.skipsAuth = true;
          return undefined;
        }
        if (mock) return undefined;
        if (blockList?.find(call)) return refuseEndpoint(call);
        return !allowList || isInternal || allowList.find(call) ? undefined : refuseEndpoint(call);
      },
    };
  },
};

export const isPreflight = (call: Exchange) =>
  call.method === 'OPTIONS' && call.headers.has('access-control-request-method');
