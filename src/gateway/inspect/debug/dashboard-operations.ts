import { ensureAddressesAllowed } from '#apis/api/address-check.ts';
import { type CheckedDefinition, checkDefinition } from '#apis/api/changes.ts';
import { classicExample } from '#apis/api/examples.ts';
import { ensureReferencesAllowed } from '#apis/api/ownership-check.ts';
import { readApiId, withIds } from '#apis/api/rules.ts';
import { type DefinitionOfKind, emptyWrapper } from '#apis/api/schema.ts';
import { restoreSecrets } from '#apis/api/secrets.ts';
import type { ApiStore } from '#apis/api/store.ts';
import type { Ownership } from '#apis/owners/store.ts';
import { problem as apiProblem } from '#apis/problems.ts';
import type { GatewayCalls } from '#apis/proxy/gateway-calls.ts';
import { problem as proxyProblem } from '#apis/proxy/problems.ts';
import type { AddressPolicies } from '#base/address-policies.ts';
import { createPublicId } from '#base/ids.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { toWarningsMember } from '#operations/shapes.ts';
import { problem as rpcProblem } from '../../pipeline/thread-rpc.ts';
import { type DebugServices, readDebugWrite, runOnThread } from './operations.ts';
import { problem } from './problems.ts';
import type { DebugRuns } from './run-limit.ts';
import { DebugResult, DebugWrite } from './schema.ts';

interface OwnDebugServices extends Pick<DebugServices, 'settings' | 'callThread'> {
  apis: ApiStore;
  ownership: Ownership;
  addressPolicies: AddressPolicies;
  gatewayCalls: GatewayCalls;
  debugRuns: DebugRuns;
}

export const debugDefinition = operation({
  name: 'debugDefinition',
  tool: { name: 'gw_test_definition' },
  surface: 'dashboard',
  noun: 'debug',
  method: 'POST',
  path: '/api/debug',
  about:
    'Tests a definition of the caller’s organisation without storing it, as POST /gw/debug does. Nothing is counted, cached or recorded.',
  permission: 'apis:write',
  body: DebugWrite,
  example: { spec: classicExample, request: { method: 'GET', path: '/orders/7' } },
  returns: DebugResult,
  problems: [
    problem.spec_missing,
    problem.request_missing,
    problem.chain_not_built,
    problem.too_many_runs,
    proxyProblem.too_many_calls,
    apiProblem.id_exists,
    apiProblem.api_not_owned,
    apiProblem.reference_not_owned,
    apiProblem.reference_open,
    rpcProblem.no_threads,
  ],
  async handle({ actor, body, address, audit }, services: OwnDebugServices) {
    const { kind, value, member, request } = readDebugWrite(body);
    const checked = checkDefinition(kind, value, services, member);
    const definition = await toOwnDefinition(services, actor, checked);
    audit(readApiId(definition));
    services.debugRuns.count(actor.orgId);
    const run = await services.gatewayCalls.run(actor.orgId, () =>
      runOnThread(services, { definition, request, address }),
    );
    return { ...run, ...toWarningsMember(checked) };
  },
});

/**
 * The definition as an API of the actor's organisation, whatever organisation it names: its networks, secrets and keys
 * are those of that organisation. Rejects what a write of this actor rejects to protect others: ids and references of
 * APIs that are not the actor's, and addresses.
 */
async function toOwnDefinition(
  services: OwnDebugServices,
  actor: Actor,
  { addresses = [], references, ...written }: CheckedDefinition,
): Promise<DefinitionOfKind> {
  const { apis, ownership } = services;
  const apiId = readApiId(written);
  const before = apiId === '' ? undefined : await apis.findByApiId(apiId);
  if (before && before.org_id !== actor.orgId) throw apiProblem.id_exists();
  const hidden = await ownership.hiddenApis(actor);
  if (before && hidden.some(it => it.id === before.id)) throw apiProblem.api_not_owned();
  const restored = restoreSecrets({ ...written, wrapper: emptyWrapper }, before);
  ensureAddressesAllowed(services, addresses);
  ensureReferencesAllowed(references, hidden, before);
  return withIds(restored, { id: before?.id ?? '', api_id: apiId || createPublicId(), org_id: actor.orgId });
}

export const ownDebugOperations = [debugDefinition];
