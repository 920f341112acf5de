import { z } from 'zod';
import { problems } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { type RpcBroadcast, problem as rpcProblem } from '../../pipeline/thread-rpc.ts';

const problem = problems('explain', {
  unknown: {
    status: 404,
    message: 'Explanation not found: each is kept for ten minutes, by the process that served the request',
  },
});

const rpcTimeoutMs = 5000;

/** RPC of every traffic thread. */
export interface ExplainRpc {
  /** The explanation of a request; empty when this thread did not serve it. */
  explanation(request: { readonly id: string }): Promise<string>;
}

export const getExplanation = operation({
  name: 'getExplanation',
  surface: 'gateway',
  noun: 'explanation',
  method: 'GET',
  path: '/gw/explain/{explanationId}',
  about:
    'Returns the explanation of a request with `X-Gw-Explain`: every step with its settings, its decision and its duration.',
  permission: 'secret',
  params: z.object({ explanationId: z.string().describe('`id` in the response header `X-Gw-Explanation`') }),
  returns: z.object({
    id: z.string(),
    logs: z.string().describe('One JSON object per line: every step with its decision and reason'),
  }),
  problems: [problem.unknown, rpcProblem.no_threads],
  async handle(
    { params: { explanationId: id } },
    { broadcastToThreads }: { broadcastToThreads: RpcBroadcast<ExplainRpc> },
  ) {
    const logs = await readExplanation(broadcastToThreads, id);
    if (logs === undefined) throw problem.unknown();
    return { id, logs };
  },
});

/** The explanation that a thread of this process holds; undefined where none does. */
export async function readExplanation(
  broadcastToThreads: RpcBroadcast<ExplainRpc>,
  id: string,
): Promise<string | undefined> {
  const found = await broadcastToThreads('explanation', { id }, rpcTimeoutMs);
  return found.find(it => it !== '');
}

export const explainOperations = [getExplanation];
