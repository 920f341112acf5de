import type { z } from 'zod';
import { refuseHiddenRights } from '#access/hidden-rights.ts';
import { Key } from '#access/keys/schema.ts';
import { policyIdsOf } from '#access/policies/apply-policies.ts';
import type { PolicyStore } from '#access/policies/store.ts';
import type { ApiStore } from '#apis/api/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apiProblem } from '#apis/problems.ts';
import type { GatewayCalls } from '#apis/proxy/gateway-calls.ts';
import { problem as proxyProblem } from '#apis/proxy/problems.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { problem as operationProblem } from '#operations/problems.ts';
import { type RpcCall, problem as rpcProblem } from '../../pipeline/thread-rpc.ts';
import { problem as debugProblem } from '../debug/problems.ts';
import type { DebugRuns } from '../debug/run-limit.ts';
import { findHookName } from './hook-name.ts';
import { problem } from './problems.ts';
import {
  ControlTestWrite,
  type PluginTestOutcome,
  type PluginTestReply,
  PluginTestRequest,
  PluginTestResponse,
  type PluginTestTask,
} from './schema.ts';

/** RPC of a traffic thread. */
export interface PluginTestRpc {
  testPlugin(task: PluginTestTask): Promise<PluginTestReply>;
}

interface TestServices {
  settings: Settings;
  apis: ApiStore;
  /** RPC to one traffic thread. */
  callThread: RpcCall<PluginTestRpc>;
}

/** Grace beyond the time of a call: loading, and the start of a worker. */
const rpcGraceMs = 40_000;

const exampleCode = `const greet = new GwJS.GwMiddleware.NewMiddleware({});
greet.NewProcessRequest(function (request, session, config) {
  request.SetHeaders['X-Greeting'] = 'hello';
  return greet.ReturnData(request, session.meta_data || {});
});`;
const example = { code: exampleCode, hook_type: 'pre' as const, request: { Method: 'GET', URL: '/orders?page=2' } };

const shared = [
  problem.name_missing,
  problem.response_missing,
  problem.request_invalid,
  problem.session_refused,
  apiProblem.api_not_found,
  rpcProblem.no_threads,
];

export const testPluginAsOperator = operation({
  name: 'testPluginAsOperator',
  surface: 'gateway',
  noun: 'plugins',
  method: 'POST',
  path: '/gw/plugins/test',
  about:
    'Runs a hook or virtual endpoint of the given code in the sandbox with the given exchange, and returns what it changed. Requests to other servers, keys and storage are those of the organisation.',
  permission: 'secret',
  body: ControlTestWrite,
  example,
  returns: PluginTestResponse,
  problems: shared,
  async handle({ body, audit }, services: TestServices & { defaultOrgId: () => Promise<string> }) {
    const { org_id, ...write } = body;
    const orgId = org_id || (await services.defaultOrgId());
    const apiId = await findApiId(services, orgId, write.api_id);
    audit(apiId);
    return runOnThread(services, write, { orgId, apiId, mayUseKeys: true });
  },
});

interface OwnTestServices extends TestServices {
  ownership: Ownership;
  policies: PolicyStore;
  gatewayCalls: GatewayCalls;
  debugRuns: DebugRuns;
}

export const testOwnPlugin = operation({
  name: 'testPlugin',
  surface: 'dashboard',
  noun: 'plugins',
  method: 'POST',
  path: '/api/plugins/test',
  about:
    'Runs a hook or virtual endpoint of the given code in the sandbox with the given exchange, as POST /gw/plugins/test does, in the caller’s organisation. Functions for keys need the permission to write keys, policies of the session that to read policies and access to all their APIs.',
  permission: 'apis:write',
  body: PluginTestRequest,
  example,
  returns: PluginTestResponse,
  problems: [...shared, debugProblem.too_many_runs, proxyProblem.too_many_calls],
  async handle({ actor, body, audit }, services: OwnTestServices) {
    const hidden = await services.ownership.hiddenApis(actor);
    if (body.api_id && hidden.some(({ api_id }) => api_id === body.api_id)) throw apiProblem.api_not_found();
    const apiId = await findApiId(services, actor.orgId, body.api_id);
    await refuseHiddenPolicies(services, actor, body.session);
    audit(apiId);
    services.debugRuns.count(actor.orgId);
    const mayUseKeys = hasPermission(actor, 'keys:write');
    return services.gatewayCalls.run(actor.orgId, () =>
      runOnThread(services, body, { orgId: actor.orgId, apiId, mayUseKeys }),
    );
  },
});

/** The code gets the whole session: its policies must be such that the caller may read all of them. */
async function refuseHiddenPolicies(
  { policies, ownership }: Pick<OwnTestServices, 'policies' | 'ownership'>,
  actor: Actor,
  session: unknown,
): Promise<void> {
  const key = Key.safeParse(session ?? {});
  // The thread refuses an invalid session, and names the member.
  const ids = key.success ? policyIdsOf(key.data) : [];
  if (ids.length === 0) return;
  const permission = 'policies:read';
  if (!hasPermission(actor, permission)) throw operationProblem.not_permitted({ detail: { permission } });
  const found = await policies.findByIds(actor.orgId, ids);
  await refuseHiddenRights({ ownership }, actor, ...found.values());
}

/** Empty without an API. */
async function findApiId({ apis }: TestServices, orgId: string, apiId: string | null | undefined): Promise<string> {
  if (!apiId) return '';
  const api = await apis.findByApiId(apiId);
  if (api?.org_id !== orgId) throw apiProblem.api_not_found();
  return apiId;
}

async function runOnThread(
  { settings, callThread }: TestServices,
  write: z.output<typeof PluginTestRequest>,
  owner: Pick<PluginTestTask, 'orgId' | 'apiId' | 'mayUseKeys'>,
): Promise<PluginTestOutcome> {
  const { code, driver, hook_type: type } = write;
  if (type === 'response' && !write.response) throw problem.response_missing();
  const name = findHookName(code, driver ?? 'javascript', type, write.name);
  const reply = await callThread('testPlugin', { ...owner, write, name }, settings['plugins.timeout_ms'] + rpcGraceMs);
  if ('result' in reply) return reply.result;
  const refuse = reply.part === 'session' ? problem.session_refused : problem.request_invalid;
  throw refuse({ detail: { fault: reply.fault } });
}

export const pluginTestOperations = [testPluginAsOperator, testOwnPlugin];
