import type { z } from 'zod';
import { validateDefinition } from '#apis/api/changes.ts';
import { classicExample } from '#apis/api/examples.ts';
import { readApiId, withIds } from '#apis/api/rules.ts';
import type { ApiKind, DefinitionOfKind } from '#apis/api/schema.ts';
import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import type { Settings } from '#base/settings.ts';
import { findDocumentKind } from '#definition/document-kind.ts';
import { operation } from '#operations/operation.ts';
import { toWarningsMember } from '#operations/shapes.ts';
import { formatValidationError } from '#operations/validation-error.ts';
import { type RpcCall, problem as rpcProblem } from '../../pipeline/thread-rpc.ts';
import { problem } from './problems.ts';
import { DebugResult, type DebugRun, type DebugTask, DebugWrite } from './schema.ts';
import { createTrace } from './trace.ts';

/** RPC of a traffic thread. */
export interface DebugRpc {
  debug(request: DebugTask): Promise<DebugRun>;
}

export interface DebugServices {
  settings: Settings;
  clock: Clock;
  defaultOrgId: () => Promise<string>;
  /** RPC to one traffic thread. */
  callThread: RpcCall<DebugRpc>;
}

/** Grace beyond the thread's own timeout: the RPC times out only when the thread is stuck. */
const rpcGraceMs = 5000;

export const debugApi = operation({
  name: 'debugApi',
  surface: 'gateway',
  noun: 'debug',
  method: 'POST',
  path: '/gw/debug',
  about:
    'Tests a definition without storing it: sends one request through it and returns the decision of every step, the upstream request and the response.',
  permission: 'secret',
  body: DebugWrite,
  example: { spec: classicExample, request: { method: 'GET', path: '/orders/7' } },
  returns: DebugResult,
  problems: [problem.spec_missing, problem.request_missing, problem.chain_not_built, rpcProblem.no_threads],
  async handle({ body, address, audit }, services: DebugServices) {
    const { kind, value, request } = readDebugWrite(body);
    const checked = validateDefinition(kind, value, services);
    if (!checked.ok)
      throw createNotBuiltProblem(formatErrorLines(checked.errors.map(formatValidationError), services.clock));
    const definition = await fillIds(checked.definition, services);
    audit(readApiId(definition));
    const run = await runOnThread(services, { definition, request, address });
    return { ...run, ...toWarningsMember({ warnings: (checked.warnings ?? []).map(formatValidationError) }) };
  },
});

interface SentTest {
  readonly kind: ApiKind;
  readonly value: unknown;
  /** Member of the body with the definition. */
  readonly member: 'oas' | 'spec';
  readonly request: DebugTask['request'];
}

/** The definition and the request of a body; a document takes precedence over a classic definition. */
export function readDebugWrite({ oas, spec, request }: z.output<typeof DebugWrite>): SentTest {
  const value = oas ?? spec ?? undefined;
  if (value === undefined) throw problem.spec_missing();
  if (!request) throw problem.request_missing();
  if ((oas ?? undefined) === undefined) return { kind: 'classic', value, member: 'spec', request };
  return { kind: findDocumentKind(value), value, member: 'oas', request };
}

/** Runs a test on a traffic thread. */
export async function runOnThread(
  { settings, callThread }: Pick<DebugServices, 'settings' | 'callThread'>,
  task: DebugTask,
): Promise<Omit<DebugRun, 'built'>> {
  const { built, ...run } = await callThread('debug', task, settings['debug.timeout_ms'] + rpcGraceMs);
  if (!built) throw createNotBuiltProblem(run.logs);
  return run;
}

const createNotBuiltProblem = (logs: string) =>
  problem.chain_not_built({ detail: { members: { response: '', logs } } });

function formatErrorLines(faults: readonly string[], clock: Clock): string {
  const trace = createTrace(clock, { id: '', name: '', orgId: '' });
  for (const msg of faults) trace.note({ level: 'error', type: 'request', msg });
  return trace.text();
}

/** Keys belong to an organisation: a definition without one gets the default organisation. */
async function fillIds(it: DefinitionOfKind, { defaultOrgId }: DebugServices): Promise<DefinitionOfKind> {
  const info = it.kind === 'classic' ? undefined : it.definition['x-gw-api-gateway'].info;
  const org = info ? info.orgId : it.kind === 'classic' ? it.definition.org_id : '';
  const id = info ? info.dbId : it.kind === 'classic' ? it.definition.id : '';
  return withIds(it, {
    id: id ?? '',
    api_id: readApiId(it) || createPublicId(),
    org_id: org || (await defaultOrgId()),
  });
}

export const debugOperations = [debugApi];
