import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { forEachCall } from '#analytics/batch.ts';
import { problem as analytics } from '#analytics/problems.ts';
import { createUsageRollUp } from '#analytics/roll-up.ts';
import { problem as assets } from '#apis/assets/problems.ts';
import { problem as apis } from '#apis/problems.ts';
import { problem as rpc } from '#gateway/pipeline/thread-rpc.ts';
import { problem } from '#operations/problems.ts';
import { problem as signIn } from '#people/sessions/problems.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { batchOf, noon, someApi } from '../support/records.ts';
import { openApi } from '../support/traffic.ts';
import { expectProblem } from './expect-problem.ts';

/** Problems of limits, each reached by a product whose settings have the smallest one. */

const keyHash = '0123abcd';
const client = 'client';
const day = new Date(noon);
const [year, month, date] = [day.getUTCFullYear(), day.getUTCMonth() + 1, day.getUTCDate()];
const range = `${date}/${month}/${year}/${date}/${month}/${year}`;

/** Usage queries by operation. */
const usageQueries: Readonly<Record<string, string>> = {
  countUsageByApi: `/api/usage/apis/${range}`,
  countUsageOfApi: `/api/usage/apis/${someApi.id}/${range}`,
  countUsage: `/api/usage?start=${noon / 1000}&end=${noon / 1000 + 60}`,
  countKeyActivity: `/api/activity/keys/${keyHash}/${range}`,
  countKeyEndpoints: `/api/activity/keys/endpoint/${keyHash}/${range}`,
  sumKeyActivity: `/api/activity/keys/aggregate/${keyHash}/${range}`,
  countClientActivity: `/api/activity/oauthid/${client}/${range}`,
  countMcpUsage: `/api/usage/mcp/${range}`,
  countMcpPrimitives: `/api/activity/mcp/primitives/${range}`,
  countMcpErrors: `/api/activity/mcp/primitives/errors/${range}`,
  countMcpKeyActivity: `/api/activity/mcp/keys/${keyHash}/${range}`,
  countClientEndpoints: `/api/activity/oauthid/endpoint/${client}/${range}`,
};
const withPercentiles = (path: string) => `${path}${path.includes('?') ? '&' : '?'}percentiles=true`;

/** Stores the counts of one request of the organisation. */
async function storeUsage({ application, credentials }: TestApp): Promise<void> {
  const rolled = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false });
  const api = { ...someApi, orgId: credentials.organisation_id };
  const message = { mcpMethod: 'tools/call', mcpPrimitiveType: 'tool', mcpPrimitiveName: 'echo', status: 500 };
  forEachCall(batchOf([{ api, keyHash, oauthId: client, ...message }]), rolled.add);
  await application.installation.services.usage.add(rolled.drain(noon));
}

describe('Problems of limits', () => {
  let app: TestApp;
  before(async () => {
    const settings = {
      role: 'dashboard',
      'analytics.max_waiting_reads': '0',
      'management.max_event_streams': '0',
      'management.max_waiting_writes': '0',
      'sign_in.max_address_failures': '1',
      'dashboard.url': 'http://dashboard.example',
    } as const;
    app = await startApp('sqlite', { settings });
    await storeUsage(app);
  });
  after(() => app?.close());

  for (const [name, path] of Object.entries({ ...usageQueries, streamUsage: '/api/live' }))
    test(`${name}: analytics.max_waiting_reads`, () =>
      expectProblem(app, name, analytics.reads_exceeded, name === 'streamUsage' ? path : withPercentiles(path)));

  test('streamLogs: management.max_event_streams', () =>
    expectProblem(app, 'streamLogs', problem.too_many_streams, '/api/logs/stream'));

  test('forgetPassword: sign_in.max_address_failures', async () => {
    const asked = { body: { email: 'a@example.org' }, credential: null };
    assert.equal((await app.ask('POST', '/api/session/forgot', asked)).status, 200);
    await expectProblem(app, 'forgetPassword', signIn.limited, '/api/session/forgot', asked);
  });

  test('passkeys: a dashboard.url without TLS', async () => {
    const response = { clientDataJSON: 'e30', attestationObject: 'aa' };
    const credential = { id: 'aa', type: 'public-key', response };
    const signature = { clientDataJSON: 'e30', authenticatorData: 'aa', signature: 'aa', userHandle: 'aa' };
    const requests: Readonly<Record<string, readonly [path: string, body: object]>> = {
      startPasskey: ['/api/session/passkeys/challenge', { password: 'p' }],
      addPasskey: ['/api/session/passkeys', { name: 'n', credential }],
      startPasskeySignIn: ['/api/session/passkey/challenge', {}],
      signInWithPasskey: ['/api/session/passkey', { credential: { ...credential, response: signature } }],
    };
    for (const [name, [path, body]] of Object.entries(requests))
      await expectProblem(app, name, signIn.passkeys_unavailable, path, { body });
  });

  test('getExplanation: a process without traffic threads', () =>
    expectProblem(app, 'getExplanation', rpc.no_threads, '/gw/explain/unknown'));

  for (const [name, path] of [
    ['testPlugin', '/api/plugins/test'],
    ['testPluginAsOperator', '/gw/plugins/test'],
  ] as const)
    test(`${name}: a process without traffic threads`, () =>
      expectProblem(app, name, rpc.no_threads, path, { body: { code: 'function f() {}', hook_type: 'virtual' } }));
});

describe('Problems of numbers of rows', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { role: 'dashboard', 'analytics.max_percentile_rows': '0' } });
    await storeUsage(app);
  });
  after(() => app?.close());

  for (const [name, path] of Object.entries(usageQueries))
    test(`${name}: analytics.max_percentile_rows`, () =>
      expectProblem(app, name, analytics.percentile_rows_exceeded, withPercentiles(path)));

  test('createAsset: the templates of an organisation', async () => {
    const { db } = app.application.installation.records;
    const org_id = app.credentials.organisation_id;
    const toRow = (id: string) => ({ id, org_id, asset_id: id, kind: 'oas-template', created_at: 0, body: '{}' });
    await insertBatches(toRow, rows => db.insertInto('assets').values(rows).execute());
    const body = { kind: 'oas-template', name: 'One more', data: {} };
    await expectProblem(app, 'createAsset', assets.too_many_assets, '/api/assets', { body });
  });

  test('migrateApis: the classic APIs of an organisation', async () => {
    const made = await app.ask('POST', '/api/apis', {
      body: { api_definition: openApi({ url: 'http://127.0.0.1:9' }) },
    });
    assert.equal(made.status, 200, made.text);
    const { db } = app.application.installation.records;
    const row = await db.selectFrom('apis').selectAll().where('api_id', '=', made.body.ID).executeTakeFirstOrThrow();
    const toRow = (id: string) => ({ ...row, id, api_id: id });
    await insertBatches(toRow, rows => db.insertInto('apis').values(rows).execute());
    const body = { mode: 'dryRun', all: true };
    await expectProblem(app, 'migrateApis', apis.too_many_to_migrate, '/api/apis/migrate', { body });
  });
});

/** Inserts a thousand rows. */
async function insertBatches<Row>(toRow: (id: string) => Row, insert: (rows: Row[]) => Promise<unknown>) {
  for (let batch = 0; batch < 20; batch++)
    await insert(Array.from({ length: 50 }, (_none, at) => toRow(`row-${batch}-${at}`)));
}
