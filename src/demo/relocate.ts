import { exportConfiguration } from '#configuration/export.ts';
import { runConfiguration } from '#configuration/run.ts';
import type { ConfigurationObject } from '#configuration/schema.ts';
import type { DemoServices } from './create.ts';
import { createDemoActor } from './handlers.ts';
import { createDemoStates, type DemoState } from './state.ts';
import { toOrigin } from './upstream.ts';

const pageSize = 500;

async function listDemoObjects(services: DemoServices, state: DemoState): Promise<ConfigurationObject[]> {
  const own = new Set([...state.apiIds, state.hookId]);
  const found: ConfigurationObject[] = [];
  let after: string | undefined = '';
  while (after !== undefined) {
    const page = await exportConfiguration(services, createDemoActor(state.orgId), {
      kinds: ['webhook', 'api'],
      after,
      size: pageSize,
    });
    found.push(...page.objects.filter(({ id }) => own.has(id)).map(({ kind, id, spec }) => ({ kind, id, spec })));
    after = page.next;
  }
  return found;
}

/** Replaces the address of the upstream in the APIs and the webhook, where its port of the last start is taken. */
export async function relocateUpstream(services: DemoServices, state: DemoState, port: number): Promise<DemoState> {
  if (port === state.port) return state;
  const moved = { ...state, port };
  const pattern = new RegExp(`${toOrigin(state.port).replaceAll('.', '\\.')}(?!\\d)`, 'g');
  await services.records.write(async () => {
    const objects = (await listDemoObjects(services, state)).map(
      object => JSON.parse(JSON.stringify(object).replaceAll(pattern, toOrigin(port))) as ConfigurationObject,
    );
    const options = { prune: [], force: undefined, commits: true };
    await runConfiguration(services, createDemoActor(state.orgId), { objects, ...options });
    await createDemoStates(services).write(moved);
  });
  return moved;
}
