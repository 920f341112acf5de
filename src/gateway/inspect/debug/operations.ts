import { classicExample } from '#apis/api/examples.ts';
import { checkLengths, readApiId, withIds } from '#apis/api/rules.ts';
import type { DefinitionOfKind } from '#apis/api/schema.ts';
import type { Clock } from '#base/clock.ts';
import { createPublicId } from '#base/ids.ts';
import { problems } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { checkClassic } from '#definition/classic.ts';
import { streamingName } from '#definition/document-members.ts';
import type { UnknownMembers } from '#definition/members.ts';
import { checkOas, isDocument } from '#definition/oas.ts';
import { checkStreams } from '#definition/streams.ts';
import { operation } from '#operations/operation.ts';
import { toWarningsMember } from '#operations/shapes.ts';
import { findUnknownMembersRule } from '#operations/unknown-members.ts';
import { formatValidationError } from '#operations/validation-error.ts';
import { type RpcCall, problem as rpcProblem } from '../../pipeline/thread-rpc.ts';
import { DebugResult, type DebugRun, type DebugTask, DebugWrite } from './schema.ts';
import { createTrace } from './trace.ts';

const problem = problems('debug', {
  spec_missing: { status: 400, message: 'Spec field is missing' },
  request_missing: { status: 400, message: 'Request field is missing' },
  chain_not_built: { status: 400, message: 'error' },
});

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
  async handle({ body: { oas, spec, request }, address, audit }, services: DebugServices) {
    const given = oas ?? spec ?? undefined;
    if (given === undefined) throw problem.spec_missing();
    if (!request) throw problem.request_missing();
    const unknownMembers = findUnknownMembersRule(services.settings);
    const checked =
      (oas ?? undefined) === undefined ? validateClassic(given, unknownMembers) : validateOas(given, unknownMembers);
    if (!checked.ok)
      throw createNotBuiltProblem(formatErrorLines(checked.errors.map(formatValidationError), services.clock));
    const written = await fillIds(checked.definition, services);
    audit(readApiId(written));
    const timeoutMs = services.settings['debug.timeout_ms'] + rpcGraceMs;
    const { built, ...run } = await services.callThread('debug', { definition: written, request, address }, timeoutMs);
    if (!built) throw createNotBuiltProblem(run.logs);
    return { ...run, ...toWarningsMember({ warnings: (checked.warnings ?? []).map(formatValidationError) }) };
  },
});

const createNotBuiltProblem = (logs: string) =>
  problem.chain_not_built({ detail: { members: { response: '', logs } } });

function formatErrorLines(faults: readonly string[], clock: Clock): string {
  const trace = createTrace(clock, { id: '', name: '', orgId: '' });
  for (const msg of faults) trace.note({ level: 'error', type: 'request', msg });
  return trace.text();
}

const validateClassic = (value: unknown, mode: UnknownMembers) => toDefinition('classic', checkClassic(value, mode));
const validateOas = (value: unknown, mode: UnknownMembers) =>
  isDocument(value) && streamingName in value
    ? toDefinition('streams', checkStreams(value, mode))
    : toDefinition('oas', checkOas(value, mode));

function toDefinition(kind: DefinitionOfKind['kind'], checked: CheckResult<unknown>): CheckResult<DefinitionOfKind> {
  if (!checked.ok) return checked;
  const definition = { kind, definition: checked.definition } as DefinitionOfKind;
  const faults = checkLengths(definition);
  return faults.length > 0 ? { ok: false, errors: faults } : { ...checked, definition };
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
