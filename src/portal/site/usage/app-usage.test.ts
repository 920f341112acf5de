import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp, type TestApp } from '../../../../tests/support/app.ts';
import { addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from '../../../../tests/support/portal.ts';
import { addSiteDeveloper, sitePassword } from '../../../../tests/support/portal-site.ts';
import { type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

const path = '/portal/private/analytics';

/** Key of a portal app for a product with one API, which calls the upstream. */
async function addKeyTo(app: TestApp, upstream: Upstream, appId: number) {
  const name = `api-${createPublicId()}`;
  const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
  const product = await addProduct(app, { APIDetails: [{ APIID: await addApi(app, name, { proxy }) }] });
  const plan = await addPlan(app, { Quota: 10 });
  const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
  const { AccessRequestID } = await requestPortal(app, 'PUT', `/portal-api/apps/${appId}/provision`, wanted);
  const { Credentials } = await requestPortal(app, 'GET', `/portal-api/access_requests/${AccessRequestID}`);
  const headers = { authorization: Credentials[0].Credential as string };
  const call = async (rest: string) => (await fetch(`${app.url.gateway}/${name}/${rest}`, { headers })).status;
  return { product: product.ID as number, credential: Credentials[0].ID as number, name, call };
}

/** Sums of all days of a CSV report: calls before midnight are in another row than those after it. */
const sumCsv = (csv: string) =>
  csv
    .trim()
    .split('\r\n')
    .slice(1)
    .map(row => Number(row.split(',')[1]))
    .reduce((sum, calls) => sum + calls, 0);

/** Runs a test in an app of its own, in which a developer has called an API once. */
async function withOneCall(
  settings: Record<string, string>,
  run: (app: TestApp, client: SiteClient, name: string) => Promise<void>,
) {
  const upstream = await startUpstream();
  const app = await startApp('sqlite', { settings });
  try {
    const user = await addDeveloper(app, { Password: sitePassword });
    const { ID } = await addApp(app, { UserID: user.ID });
    const key = await addKeyTo(app, upstream, ID);
    await waitUntilApplied(app);
    assert.equal(await key.call(''), 200);
    const client = await signedInClient(app, user);
    await eventually(async () => assert.match((await client.get(path)).text, /<li>1 call<\/li>/));
    await run(app, client, key.name);
  } finally {
    await app.close();
    await upstream.close();
  }
}

test('the usage page leaves out percentiles where too many usage queries are in progress', () =>
  withOneCall({ 'analytics.max_waiting_reads': '0' }, async (_app, client, name) => {
    const { status, text } = await client.get(path);
    assert.equal(status, 200, text);
    assert.match(text, new RegExp(`<th scope="row">${name}`));
    assert.doesNotMatch(text, /50 % within/);
  }));

// In an app of its own: counts of other tests cannot be written without the table.
test('the CSV of days reads no percentiles', () =>
  withOneCall({}, async (app, client) => {
    const { schema } = app.application.installation.records.db;
    await schema.alterTable('usage_latencies').renameTo('usage_latencies_renamed').execute();
    try {
      assert.equal((await client.get(path)).status, 500);
      assert.equal(sumCsv((await client.get(`${path}?format=csv`)).text), 1);
    } finally {
      await schema.alterTable('usage_latencies_renamed').renameTo('usage_latencies').execute();
    }
  }));

onEveryEngine('usage page of the portal site', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    upstream.answer = (request, response) => {
      response.statusCode = request.url?.endsWith('/missing') ? 404 : 200;
      response.end('{}');
    };
  });
  after(() => upstream?.close());

  const addKey = (appId: number) => addKeyTo(app(), upstream, appId);
  test('calls are filtered by product, credential and status, on the page, as JSON and as CSV', async () => {
    const user = await addSiteDeveloper(app());
    const { ID } = await addApp(app(), { UserID: user.ID });
    const [first, second] = [await addKey(ID), await addKey(ID)];
    const other = await addKey((await addApp(app())).ID);
    await waitUntilApplied(app());
    assert.deepEqual(
      [await first.call(''), await first.call('missing'), await second.call(''), await other.call('')],
      [200, 404, 200, 200],
    );
    const client = await signedInClient(app(), user);
    const read = async (query: Record<string, number | string>) => {
      const fields = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
      const { status, text } = await client.get(`/portal/private/api/usage?${fields}`);
      const page = await client.get(`${path}?${fields}`);
      assert.equal(page.status, status, text);
      if (status !== 200) return status;
      const { total, apis, codes } = JSON.parse(text);
      const calls = total.calls === 1 ? '1 call' : `${total.calls} calls`;
      assert.match(page.text, total.calls === 0 ? /No calls match these filters/ : new RegExp(`<li>${calls}</li>`));
      assert.equal(sumCsv((await client.get(`${path}?${fields}&format=csv`)).text), total.calls);
      return [
        total.calls,
        apis.map((it: { name: string }) => it.name),
        codes.map((it: { code: number; calls: number }) => [it.code, it.calls]),
      ];
    };
    await eventually(async () => assert.equal(((await read({})) as unknown[])[0], 3));
    const ofFirst = [
      2,
      [first.name],
      [
        [200, 1],
        [404, 1],
      ],
    ];
    assert.deepEqual(await read({ product: first.product }), ofFirst);
    assert.deepEqual(await read({ credential: first.credential }), ofFirst);
    assert.deepEqual(await read({ status: '4xx' }), [1, [first.name], [[404, 1]]]);
    assert.deepEqual(await read({ status: 404, product: first.product }), [1, [first.name], [[404, 1]]]);
    assert.deepEqual(await read({ status: '5xx' }), [0, [], []]);
    assert.deepEqual(await read({ product: first.product, credential: second.credential }), [0, [], []]);
    const absent: Record<string, number | string>[] = [
      { product: other.product },
      { credential: other.credential },
      { credential: 'x' },
    ];
    for (const query of [...absent, { status: '404; drop' }, { status: '6xx' }])
      assert.equal(await read(query), 404, JSON.stringify(query));
    const { text } = await client.get(`${path}?status=404`);
    assert.match(text, /<option value="404" selected>404<\/option>/);
    assert.ok(text.includes(`<option value="${second.credential}">`) && !text.includes(`"${other.credential}">`));
  });

  test('a quota that does not last has the time of its end at the present rate', async () => {
    const user = await addSiteDeveloper(app());
    const { ID } = await addApp(app(), { UserID: user.ID });
    const key = await addKey(ID);
    await waitUntilApplied(app());
    assert.equal(await key.call(''), 200);
    const client = await signedInClient(app(), user);
    const read = async () => /<h2 id="quotas">.*?<\/section>/s.exec((await client.get(path)).text)?.[0] ?? '';
    await eventually(async () => assert.match(await read(), /Never<\/td><td>Too early to say/));
    const { portal, clock } = app().application.installation.services;
    const CreatedAt = clock.now() - 2 * 86_400_000;
    await portal.credentials.change(key.credential, it => ({ ...it, CreatedAt }));
    await eventually(async () => assert.match(await read(), /At this rate used up on [A-Z][a-z]{2} \d/));
    await eventually(async () => assert.match(await read(), /<td class="number">1<\/td><td class="number">10<\/td>/));
  });
});
