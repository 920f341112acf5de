import { type DependentServices, dependentFinders } from '#access/dependents/find-dependents.ts';
import { removeKey } from '#access/keys/issue.ts';
import { createRunContext } from '#configuration/kind.ts';
import { kinds } from '#configuration/kinds/kinds.ts';
import type { KindName } from '#configuration/schema.ts';
import type { DependedKind } from '#operations/dependents.ts';
import type { DataDirectory } from '#storage/data-directory.ts';
import { listContents } from './contents.ts';
import type { DemoServices } from './create.ts';
import { createDemoActor } from './handlers.ts';
import { listAppKeys, listPortalDependents, removePortalObjects } from './portal-objects.ts';
import { problem } from './problems.ts';
import { createDemoRecordStore } from './record-store.ts';
import { createDemoStates, type DemoState, demoFile } from './state.ts';

type RemovalServices = DemoServices & DependentServices;

/** Dependents that a refusal names. */
const maxNamed = 10;

/** Ids of the demo, by the kind of dependent. */
async function listOwnIds(services: RemovalServices, state: DemoState): Promise<Map<string, ReadonlySet<string>>> {
  const { keys, reporter, portal } = state;
  const hashes = [...keys, reporter].map(({ hash }) => hash);
  const user = (await services.users.page(state.orgId, { page: 0, size: 1 }, state.analyst.email)).items;
  return new Map([
    ['apis', new Set(state.apiIds)],
    ['policies', new Set([...state.policyIds, ...portal.policyIds])],
    ['keys', new Set([...hashes, ...(await listAppKeys(services, portal))])],
    ['users', new Set(user.filter(it => it.email_address === state.analyst.email).map(({ id }) => id))],
  ]);
}

/** Objects that are not part of the demo and depend on it. */
async function listForeignDependents(services: RemovalServices, state: DemoState): Promise<string[]> {
  const own = await listOwnIds(services, state);
  const depended: readonly (readonly [DependedKind, readonly string[]])[] = [
    ['apis', state.apiIds],
    ['policies', [...state.policyIds, ...state.portal.policyIds]],
    ['hooks', [state.hookId]],
    ['usergroups', [state.groupId]],
  ];
  const found = new Set<string>();
  for (const [kind, ids] of depended)
    for (const id of ids)
      for (const it of (await dependentFinders[kind](services, state.orgId, id)) ?? [])
        if (!own.get(it.kind)?.has(it.id)) found.add(`${it.kind} ${it.name}`);
  return [...found, ...(await listPortalDependents(services, state.portal))];
}

async function refuseForeignDependents(services: RemovalServices, state: DemoState): Promise<void> {
  const found = await listForeignDependents(services, state);
  if (found.length === 0) return;
  const named = found.slice(0, maxNamed);
  const rest = found.length - named.length;
  throw problem.has_dependents({ detail: { list: [...named, ...(rest > 0 ? [`${rest} more`] : [])].join(', ') } });
}

/** Deletes the objects that have files in configuration as code; dependents before what they name. */
async function removeConfiguration(services: RemovalServices, state: DemoState): Promise<void> {
  const context = createRunContext(services, createDemoActor(state.orgId), { commits: true, force: true });
  const own: Partial<Record<KindName, readonly string[]>> = {
    policy: state.policyIds,
    api: state.apiIds,
    webhook: [state.hookId],
    user: [state.analyst.email],
    group: [state.groupId],
  };
  for (const kind of [...kinds].reverse()) {
    const ids = new Set(own[kind.name] ?? []);
    if (ids.size === 0) continue;
    for (const object of await kind.list(context)) if (ids.has(object.id)) await kind.remove(context, object);
  }
}

async function removeKeys(services: RemovalServices, { orgId, keys, reporter }: DemoState): Promise<void> {
  for (const { key } of [...keys, reporter]) {
    const stored = await services.keys.get(orgId, key);
    if (stored) await removeKey(services, stored);
  }
}

/**
 * Removes the demo: its objects in one transaction, then its records of requests in batches, then the state that names
 * them. After an interruption the next run continues.
 */
async function removeAll(services: RemovalServices, state: DemoState): Promise<void> {
  const states = createDemoStates(services);
  if (state.phase === 'ready')
    await services.records.write(async () => {
      await refuseForeignDependents(services, state);
      await removePortalObjects(services, state.portal);
      await removeKeys(services, state);
      await removeConfiguration(services, state);
      await states.write({ ...state, phase: 'removing' });
    });
  const store = createDemoRecordStore(services.records);
  for (const apiId of state.apiIds) await store.removeOfApi(apiId);
  await states.remove();
}

interface RemovalTarget {
  readonly directory: Pick<DataDirectory, 'path' | 'remove'>;
  readonly services: RemovalServices;
}

/** Removes the demo, where there is one, and returns a report. */
export async function removeDemo({ directory, services }: RemovalTarget): Promise<string> {
  const state = await createDemoStates(services).read();
  if (state) await removeAll(services, state);
  directory.remove(demoFile);
  if (!state) return 'There is no demo in this installation.\n';
  const rest = await listContents(services, state.orgId);
  return `The demo is removed.${rest.length > 0 ? ` What is not part of it stays: ${rest.join(', ')}.` : ''}\n`;
}
