import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { callGateway, parseGatewayUrl } from '#apis/proxy/operations.ts';
import type { Clock } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { Problem } from '#base/problems.ts';
import type { Vault } from '#base/vault.ts';
import type { Actor } from '#operations/actor.ts';
import { operation, type ServicesOf } from '#operations/operation.ts';
import { explainHeader, explanationHeader } from '../../pipeline/explain-header.ts';
import { type RpcBroadcast, problem as rpcProblem } from '../../pipeline/thread-rpc.ts';
import { createExplainToken } from './explain-token.ts';
import { type ExplainRpc, readExplanation } from './operations.ts';
import { type ExplanationSummary, parseSummary, parseTrace, type VisibleSteps } from './visible-steps.ts';

type ExplainedCallServices = ServicesOf<[typeof callGateway]> & {
  ownership: Ownership;
  vault: Vault;
  clock: Clock;
  broadcastToThreads: RpcBroadcast<ExplainRpc>;
};

const ExplainedStep = z.object({
  phase: z.enum(['request', 'response']).optional(),
  step: z.string().describe('Name of the step; route, version and upstream are steps too'),
  message: z.string().describe('Decision of the step and its reason'),
  took_ms: z.number().optional(),
  status: z.int().optional().describe('HTTP status of a refusal or response'),
  refusal: z.string().optional().describe('Error code of a refusal'),
  about: z.string().optional().describe('Meaning of the error code'),
  key_hash: z.string().optional().describe('Key that the step authenticated'),
  settings: z.unknown().optional().describe('Settings of the step, secrets masked'),
  api_id: z.string(),
});

export const explainCall = operation({
  surface: 'dashboard',
  noun: 'explanation',
  name: 'explainCall',
  tool: {
    name: 'gw_explain',
    about:
      'Sends one request to an API on the gateway, and returns the response with the decision of every step: the reason why a request is refused.',
  },
  method: 'POST',
  path: '/api/explain',
  about:
    'Sends one request to an API on the gateway as POST /api/proxy does, and returns the response with the decision of every step.',
  permission: 'apis:write',
  body: callGateway.body!,
  returns: callGateway.returns.extend({
    explanation: z
      .object({
        id: z.string(),
        is_complete: z.boolean().describe('False where steps are left out: of APIs of others, or beyond the bound'),
        steps: z.array(ExplainedStep),
      })
      .nullable()
      .describe('null where the gateway at the URL did not explain the request'),
  }),
  problems: callGateway.problems!,
  async handle(call, services: ExplainedCallServices) {
    const outbound = withExplainHeader(services);
    const { headers, ...response } = await callGateway.handle(call, { ...services, outbound });
    const { [explanationHeader.toLowerCase()]: summary, ...visible } = headers;
    const explanation = parseSummary(summary ?? '');
    if (!explanation) return { ...response, headers: visible, explanation: null };
    const steps = await listVisibleSteps(services, call.actor, explanation);
    return { ...response, headers: visible, explanation: { id: explanation.id, ...steps } };
  },
});

/** Adds a token for this one request, after the headers of the caller were checked; never the gateway secret. */
const withExplainHeader = (services: ExplainedCallServices): OutboundClient => ({
  fetch(request) {
    const { url, paths } = parseGatewayUrl(request.url, services.listGatewayUrls());
    const token = createExplainToken(services.vault, services.clock, {
      method: request.method ?? 'GET',
      host: url.hostname,
      paths: paths.map(path => path || '/'),
    });
    return services.outbound.fetch({ ...request, headers: { ...request.headers, [explainHeader]: token } });
  },
  close: () => services.outbound.close(),
});

/** Steps of the whole explanation where a thread of this process served the request, else those in the header. */
async function listVisibleSteps(
  services: ExplainedCallServices,
  actor: Actor,
  { id, steps }: ExplanationSummary,
): Promise<VisibleSteps> {
  const hidden = await services.ownership.findHidden(actor);
  const logs = await readOwnExplanation(services, id);
  if (logs !== undefined)
    return parseTrace(logs, { canSee: (apiId, orgId) => orgId === actor.orgId && !hidden.has(apiId) });
  const own = new Set<string>();
  for (const apiId of new Set(steps.map(({ api_id }) => api_id)))
    if (!hidden.has(apiId) && (await services.apis.get(actor.orgId, apiId))) own.add(apiId);
  const visible = steps.filter(({ api_id }) => api_id === '' || own.has(api_id));
  return { is_complete: false, steps: visible };
}

/** A process without traffic threads holds no explanations. */
async function readOwnExplanation(
  { broadcastToThreads }: Pick<ExplainedCallServices, 'broadcastToThreads'>,
  id: string,
): Promise<string | undefined> {
  try {
    return await readExplanation(broadcastToThreads, id);
  } catch (error) {
    if (error instanceof Problem && error.code === rpcProblem.no_threads.code) return undefined;
    throw error;
  }
}

export const explainedCallOperations = [explainCall];
