import { formatKeyId } from '#access/keys/ids.ts';
import { issueKey, type KeyServices, putKey } from '#access/keys/issue.ts';
import { createDatabaseId, createSecretText } from '#base/ids.ts';
import type { ConfigurationServices } from '#configuration/kind.ts';
import { runConfiguration } from '#configuration/run.ts';
import {
  createAlertHook,
  createKeyBody,
  createPeople,
  createPolicies,
  createReporterBody,
  hookId,
  keyTable,
  policyIds,
} from './access-objects.ts';
import { createDemoApis } from './apis/demo-apis.ts';
import { type ContentServices, listContents } from './contents.ts';
import { demoMetaName } from './demo-name.ts';
import { createDemoActor } from './handlers.ts';
import { writeHistory } from './history.ts';
import { createPortalObjects } from './portal-objects.ts';
import { problem } from './problems.ts';
import type { Random } from './random.ts';
import { createDemoStates, type DemoKey, type DemoState } from './state.ts';
import { toOrigin } from './upstream.ts';

export type DemoServices = ConfigurationServices &
  ContentServices &
  KeyServices &
  Parameters<typeof createPortalObjects>[0] &
  Parameters<typeof writeHistory>[0] &
  Parameters<typeof createDemoStates>[0] & { defaultOrgId(): Promise<string> };

const analystEmail = 'analyst@example.com';
const developerEmail = 'dana@example.com';
const reporterName = 'reporter';

/** Every class of characters that a policy for passwords can require. */
const createPassword = () => `Demo-9${createSecretText().slice(0, 20)}`;

async function issueKeys(services: DemoServices, orgId: string): Promise<DemoKey[]> {
  const keys: DemoKey[] = [];
  for (const row of keyTable) {
    const { key_id: key, key_hash: hash } = await issueKey(services, orgId, createKeyBody(row));
    keys.push({ alias: row.alias, policy: row.policy, key, hash });
  }
  return keys;
}

async function createReporter(services: DemoServices, orgId: string): Promise<DemoState['reporter']> {
  const password = createPassword();
  const alias = 'Sales reports';
  const body = createReporterBody(alias, password);
  const key = { ...body, basic_auth_data: { ...body.basic_auth_data, user: reporterName } };
  const identity = { orgId, keyId: formatKeyId(orgId, reporterName), kind: 'basic' } as const;
  const { issued } = await putKey(services, identity, key);
  return { user: reporterName, password, alias, policy: '', key: issued.key_id, hash: issued.key_hash };
}

async function createObjects(services: DemoServices, orgId: string, port: number): Promise<DemoState> {
  const origin = toOrigin(port);
  const groupId = createDatabaseId(services.clock.now());
  const analyst = { email: analystEmail, password: createPassword() };
  const developer = { email: developerEmail, password: createPassword() };
  const apis = createDemoApis(origin, hookId);
  const people = createPeople(groupId, analyst.email, analyst.password);
  const objects = [...people, createAlertHook(origin), ...apis, ...createPolicies()];
  await runConfiguration(services, createDemoActor(orgId), { objects, prune: [], force: undefined, commits: true });
  const keys = await issueKeys(services, orgId);
  return {
    phase: 'ready',
    orgId,
    port,
    apiIds: apis.map(({ id }) => id),
    policyIds,
    hookId,
    groupId,
    analyst,
    developer,
    keys,
    reporter: await createReporter(services, orgId),
    portal: await createPortalObjects(services, developer),
  };
}

/** Names of the APIs, by id. */
async function readApiNames({ apis }: DemoServices, { orgId, apiIds }: DemoState) {
  return new Map((await apis.findByIds(orgId, [...apiIds])).map(it => [it.api_id, it.summary.name]));
}

/**
 * Creates the demo in an empty installation. All of it is one transaction, with the state that names it: an interrupted
 * start leaves nothing behind. Objects go through the checks of their operations.
 */
export async function createDemo(services: DemoServices, port: number, random: Random): Promise<DemoState> {
  const states = createDemoStates(services);
  return services.records.write(async () => {
    // Of two processes on one database the second waits here, and gets the demo of the first.
    if (!(await services.meta.claim(demoMetaName, ''))) return (await states.read())!;
    const orgId = await services.defaultOrgId();
    const contents = await listContents(services, orgId);
    if (contents.length > 0) throw problem.not_empty({ detail: { contents: contents.join(', ') } });
    const state = await createObjects(services, orgId, port);
    const apiNames = await readApiNames(services, state);
    await writeHistory(services, { state, apiNames, nowMs: services.clock.now(), random });
    await states.write(state);
    return state;
  });
}
