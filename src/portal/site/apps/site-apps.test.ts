import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import { addApi, addDeveloper, addPlan, addProduct, requestPortal } from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { createSiteClient, type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';
import { maxDailyRequests } from './own-apps.ts';

const keyOf = (text: string) => /<code>([^<]{20,})<\/code> <button class="copy/.exec(text)?.[1];
const fieldOf = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';

onEveryEngine('apps on the portal site', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });
  const callGateway = async (path: string, key: string) => {
    await waitUntilApplied(app());
    return (await fetch(app().url.gateway + path, { headers: { authorization: key } })).status;
  };

  /** A product with an API behind the gateway, offered in the public catalogue with a plan. */
  async function offerProduct(plan: Record<string, unknown> = {}, catalogue = 1) {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const APIID = await addApi(app(), name, { proxy });
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [catalogue] });
    const { ID } = await addPlan(app(), { Catalogues: [catalogue], ...plan });
    const query = new URLSearchParams({ product: product.Path, plan: String(ID), catalogue: String(catalogue) });
    return { product, planId: ID as number, path: `/${name}/`, checkout: `/portal/private/cart/provision?${query}` };
  }

  /** Sends the form of a checkout, with a new app. */
  async function checkOut(client: SiteClient, checkout: string, more: Record<string, string> = {}) {
    const { text } = await client.get(checkout);
    const choice = Object.fromEntries(new URLSearchParams(checkout.split('?')[1]));
    const request_id = fieldOf(text, 'request_id');
    const fields = { ...choice, request_id, 'app-action': 'create', client_name: 'My app', ...more };
    return { reply: await client.post('/portal/private/cart/provision', fields), fields };
  }

  test('a plan that approves at once shows a working key once; revoked, it is refused', async () => {
    const { checkout, path } = await offerProduct({ AutoApproveAccessRequests: true });
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { reply } = await checkOut(client, checkout);
    assert.equal(reply.status, 200, reply.text);
    const key = keyOf(reply.text)!;
    assert.ok(reply.text.includes(`: ${key}" ${app().url.gateway}${path}</code>`), 'the command is complete');
    assert.equal(await callGateway(path, key), 200);
    const appPath = /href="(\/portal\/private\/apps\/\d+)\/edit"/.exec(reply.text)![1]!;
    const page = await client.get(appPath);
    assert.ok(!page.text.includes(key), 'the page of the app has no key');
    const [client_id, cred_id] = [fieldOf(page.text, 'client_id'), fieldOf(page.text, 'cred_id')];
    const again = await client.post('/portal/private/credentials', { mode: 'reveal', client_id, cred_id });
    assert.equal(keyOf(again.text), undefined);
    const { location } = await client.post('/portal/private/credentials', { mode: 'roll', client_id, cred_id });
    const stranger = await signedInClient(app(), user);
    assert.equal(keyOf((await stranger.get(location)).text), undefined, 'another session');
    const fresh = keyOf((await client.get(location)).text)!;
    assert.notEqual(fresh, key);
    assert.equal(keyOf((await client.get(location)).text), undefined, 'a reload');
    assert.deepEqual([await callGateway(path, fresh), await callGateway(path, key)], [200, 403]);
    await client.post('/portal/private/credentials', { mode: 'delete', client_id, cred_id });
    assert.deepEqual((await readLastAudit(app()))[0], 'revokeOwnCredential');
    assert.equal(await callGateway(path, fresh), 403);
  });

  test('a rotation with an overlap keeps the old key until it is ended on the page', async () => {
    const { checkout, path } = await offerProduct({ AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(client, checkout);
    const key = keyOf(reply.text)!;
    const [client_id, cred_id] = [fieldOf(reply.text, 'client_id'), fieldOf(reply.text, 'cred_id')];
    const act = (mode: string, overlap = '') =>
      client.post('/portal/private/credentials', { mode, client_id, cred_id, overlap });
    const rolled = await client.get((await act('roll', '86400')).location);
    const fresh = keyOf(rolled.text)!;
    assert.match(rolled.text, /Old key valid until/);
    assert.deepEqual([await callGateway(path, fresh), await callGateway(path, key)], [200, 200]);
    assert.equal((await act('end')).status, 303);
    assert.deepEqual([await callGateway(path, fresh), await callGateway(path, key)], [200, 403]);
    assert.doesNotMatch((await client.get(`/portal/private/apps/${client_id}`)).text, /Old key valid until/);
    const unknown = await client.get((await act('roll', '999999999')).location);
    assert.match(unknown.text, /The key was rotated: the old one is refused from now on/);
    assert.equal(await callGateway(path, fresh), 403, 'a time that is no choice is none');
    assert.equal(await callGateway(path, keyOf(unknown.text)!), 200);
  });

  test('requests of a user in a day are bounded, at once and by changes of plan that are cancelled', async () => {
    const auto = await offerProduct({ AutoApproveAccessRequests: true });
    const { ID: slow } = await addPlan(app(), { Catalogues: [1] });
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { text } = (await checkOut(client, auto.checkout)).reply;
    const [client_id, cred_id] = [fieldOf(text, 'client_id'), fieldOf(text, 'cred_id')];
    const { records, portal, clock } = app().application.installation.services;
    const [first] = await portal.accessRequests.listLive({ app_id: Number(client_id) });
    const { ID: _id, ...rest } = first!;
    const countToday = () => portal.accessRequests.countOfUserSince(user.ID, 0);
    await records.write(async () => {
      for (let made = 1; made < maxDailyRequests - 2; made++)
        await portal.accessRequests.insert({ ...rest, DeletedAt: clock.now() });
    });
    const change = () =>
      client.post(`/portal/private/apps/${client_id}/credentials/${cred_id}/change-plan`, { new_plan_id: `${slow}` });
    assert.equal((await change()).status, 303);
    const pending = await portal.accessRequests.listLive({ app_id: Number(client_id), status: 'pending' });
    await client.post(`/portal/private/apps/${client_id}/requests/${pending[0]!.ID}/cancel`, {});
    const existing = { 'app-action': 'existing', 'selected-app': client_id };
    const replies = await Promise.all(Array.from({ length: 4 }, () => checkOut(client, auto.checkout, existing)));
    assert.deepEqual(replies.map(({ reply }) => reply.status).sort(), [200, 422, 422, 422]);
    const refused = await change();
    assert.equal(refused.status, 422);
    assert.match(refused.text, /You have requested access 200 times today, the maximum/);
    assert.equal(await countToday(), maxDailyRequests);
  });

  test('a plan is changed on the page with its key kept, at once or after an approval, to offered plans only', async () => {
    const { checkout, path } = await offerProduct({ AutoApproveAccessRequests: true });
    const fast = await addPlan(app(), { Catalogues: [1], RateLimit: 1, Per: 60, AutoApproveAccessRequests: true });
    const gold = await addPlan(app(), { DisplayName: 'Gold', Catalogues: [1] });
    const hidden = await addPlan(app(), {});
    const client = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(client, checkout);
    const key = keyOf(reply.text)!;
    const [client_id, cred_id] = [fieldOf(reply.text, 'client_id'), fieldOf(reply.text, 'cred_id')];
    const change = (plan: { ID: number }, from = client) =>
      from.post(`/portal/private/apps/${client_id}/credentials/${cred_id}/change-plan`, {
        new_plan_id: String(plan.ID),
      });
    assert.equal((await change(hidden)).status, 404);
    const stranger = await signedInClient(app(), await aUser());
    assert.equal((await change(fast, stranger)).status, 404);
    assert.equal((await change(fast)).status, 303);
    assert.deepEqual([await callGateway(path, key), await callGateway(path, key)], [200, 429]);
    assert.equal((await change(gold)).status, 303);
    const { text } = await client.get(`/portal/private/apps/${client_id}`);
    assert.match(text, /Change to Gold pending[\s\S]*Waits for approval[\s\S]*Change of a credential to Gold/);
    assert.doesNotMatch(text, /Change plan/);
    assert.equal((await change(gold)).status, 422, 'one change at a time');
  });

  test('a request waits, is approved by an administrator, and its key is shown once to the developer', async () => {
    const { checkout, path } = await offerProduct();
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { reply } = await checkOut(client, checkout);
    assert.match((await client.get(reply.location)).text, /The request was sent[\s\S]*Waits for approval/);
    assert.doesNotMatch((await client.get(reply.location)).text, /The request was sent/);
    const requests = await requestPortal(app(), 'GET', '/portal-api/access_requests?per_page=1000');
    const { ID } = requests.find((it: { User: string }) => it.User === `User#${user.ID}`);
    await requestPortal(app(), 'PUT', `/portal-api/access_requests/${ID}/approve`);
    const { text } = await client.get(reply.location);
    const fields = { mode: 'reveal', client_id: fieldOf(text, 'client_id'), cred_id: fieldOf(text, 'cred_id') };
    const replies = await Promise.all([1, 2, 3].map(() => client.post('/portal/private/credentials', fields)));
    const keys = replies.map(it => keyOf(it.text)).filter(key => key !== undefined);
    assert.equal(keys.length, 1, 'one of three concurrent reveals has the key');
    assert.equal(await callGateway(path, keys[0]!), 200);
  });

  test('a form that is sent twice is one request; a rejected one is shown and can be removed', async () => {
    const { checkout } = await offerProduct();
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { reply, fields } = await checkOut(client, checkout);
    await client.post('/portal/private/cart/provision', fields);
    const requests = await requestPortal(app(), 'GET', '/portal-api/access_requests?per_page=1000');
    const own = requests.filter((it: { User: string }) => it.User === `User#${user.ID}`);
    assert.equal(own.length, 1);
    await requestPortal(app(), 'PUT', `/portal-api/access_requests/${own[0].ID}/reject?reason=No+budget`);
    const { text } = await client.get(reply.location);
    assert.match(text, /Rejected[\s\S]*No budget/);
    const [, again = ''] = /href="([^"]*)">Ask again</.exec(text) ?? [];
    const form = await client.get(again.replaceAll('&amp;', '&'));
    assert.match(form.text, new RegExp(`<option value="${/\d+$/.exec(reply.location)![0]}" selected>`));
    await client.post(`${reply.location}/requests/${own[0].ID}/cancel`, {});
    assert.doesNotMatch((await client.get(reply.location)).text, /Rejected/);
  });

  test('only a request of the app itself is cancelled', async () => {
    const { checkout } = await offerProduct();
    const client = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(client, checkout);
    const { reply: other } = await checkOut(client, checkout);
    const toId = (text: string) => /requests\/(\d+)\/cancel/.exec(text)?.[1] ?? '';
    const otherId = toId((await client.get(other.location)).text);
    for (const id of ['x', '9'.repeat(30), '-1', '1.5', '0', otherId])
      assert.equal((await client.post(`${reply.location}/requests/${id}/cancel`, {})).status, 404, id);
    assert.match((await client.get(other.location)).text, /Waits for approval/);
  });

  test('a user who requested and cancelled access too often today is refused', async () => {
    const { checkout } = await offerProduct();
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { reply } = await checkOut(client, checkout);
    const { portal, records, clock } = app().application.installation.services;
    const [first] = await portal.accessRequests.listLive({ app_id: Number(reply.location.split('/').at(-1)) });
    const cancelled = { ...first!, DeletedAt: clock.now() };
    await records.write(async () => {
      for (let count = 1; count < 200; count++) await portal.accessRequests.insert(cancelled);
    });
    const { reply: refused } = await checkOut(client, checkout);
    assert.equal(refused.status, 422);
    assert.match(refused.text, /You have requested access 200 times today/);
  });

  test('products and plans that are not offered to the visitor cannot be requested', async () => {
    const { product, planId } = await offerProduct();
    const hidden = await addProduct(app());
    const client = await signedInClient(app(), await aUser());
    const toUrl = (path: string, plan: number, catalogue: number) =>
      `/portal/private/cart/provision?product=${path}&plan=${plan}&catalogue=${catalogue}`;
    assert.equal((await client.get(toUrl(product.Path, planId, 1))).status, 200);
    assert.equal((await client.get(toUrl(hidden.Path, planId, 1))).status, 404);
    assert.equal((await client.get(toUrl(product.Path, planId, 2))).status, 404);
    const { ID: secretPlan } = await addPlan(app(), {});
    const { reply } = await checkOut(client, toUrl(product.Path, secretPlan, 1));
    assert.equal(reply.status, 404);
    const anonymous = await createSiteClient(app()).get(toUrl(product.Path, planId, 1));
    assert.equal(anonymous.status, 303);
    assert.equal(anonymous.location, `/auth/password/login?next=${encodeURIComponent(toUrl(product.Path, planId, 1))}`);
  });

  test('an app of another developer is not found, by any page or form', async () => {
    const { checkout } = await offerProduct({ AutoApproveAccessRequests: true });
    const owner = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(owner, checkout);
    const appPath = /href="(\/portal\/private\/apps\/\d+)\/edit"/.exec(reply.text)![1]!;
    const id = appPath.split('/').at(-1)!;
    const cred_id = fieldOf(reply.text, 'cred_id');
    const other = await signedInClient(app(), await aUser());
    await other.get('/portal/private/apps');
    for (const path of ['', '/edit', '/delete']) assert.equal((await other.get(appPath + path)).status, 404, path);
    assert.equal((await other.post(appPath, { client_name: 'Mine' })).status, 404);
    assert.equal((await other.post(`${appPath}/delete`, { confirmation: 'My app' })).status, 404);
    for (const mode of ['reveal', 'roll', 'end', 'delete']) {
      const fields = { mode, client_id: id, cred_id };
      assert.equal((await other.post('/portal/private/credentials', fields)).status, 404, mode);
    }
    const { reply: own } = await checkOut(other, checkout);
    const ownId = /apps\/(\d+)\/edit/.exec(own.text)![1]!;
    const crossed = await other.post('/portal/private/credentials', { mode: 'delete', client_id: ownId, cred_id });
    assert.equal(crossed.status, 404, 'a credential of another app');
    const { reply: stolen } = await checkOut(other, checkout, { 'app-action': 'existing', 'selected-app': id });
    assert.match(stolen.text, /Choose an app/);
  });

  test('a member of the organisation sees a shared app, and cannot change it', async () => {
    const { ID: OrganisationID } = await requestPortal(app(), 'POST', '/portal-api/organisations', {
      Name: `org-${createPublicId()}`,
    });
    const member = { OrganisationID, Role: 'consumer-team-member' };
    const owner = await signedInClient(app(), await aUser(member));
    await owner.get('/portal/private/apps/new');
    const shared = { client_name: 'Shared', client_visibility: 'organisation' };
    const { location } = await owner.post('/portal/private/apps', shared);
    const { location: personal } = await owner.post('/portal/private/apps', { client_name: 'Mine alone' });
    const other = await signedInClient(app(), await aUser(member));
    assert.match((await other.get(location)).text, /<h1>Shared<\/h1>/);
    assert.doesNotMatch((await other.get(location)).text, /Edit app/);
    assert.equal((await other.post(location, { client_name: 'Taken' })).status, 404);
    assert.equal((await other.get(personal)).status, 404);
    const admin = await signedInClient(app(), await aUser({ OrganisationID, Role: 'consumer-admin' }));
    assert.match((await admin.get(location)).text, /Edit app/);
    assert.match((await admin.get('/portal/private/apps')).text, /Mine alone/);
  });

  test('an app is edited, found by its name, and deleted with its keys after its name was typed', async () => {
    const { checkout, path } = await offerProduct({ AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(client, checkout);
    const key = keyOf(reply.text)!;
    const appPath = /href="(\/portal\/private\/apps\/\d+)\/edit"/.exec(reply.text)![1]!;
    assert.equal((await client.post(appPath, { client_name: '' })).status, 422);
    await client.post(appPath, { client_name: 'Renamed <b>app</b>', description: 'For tests' });
    const { text } = await client.get('/portal/private/apps?q=renamed');
    assert.match(text, /Renamed &lt;b&gt;app&lt;\/b&gt;/);
    assert.match((await client.get('/portal/private/apps?q=nothing')).text, /No app matches/);
    assert.equal((await client.post(`${appPath}/delete`, { confirmation: 'x' })).status, 422);
    await client.post(`${appPath}/delete`, { confirmation: 'Renamed <b>app</b>' });
    assert.equal((await client.get(appPath)).status, 404);
    assert.equal(await callGateway(path, key), 403);
  });

  test('a spent allowance of the plan is shown with the time of its renewal, and the form keeps the app', async () => {
    const { checkout, planId } = await offerProduct({ PlanQuota: 1 });
    const user = await aUser();
    const client = await signedInClient(app(), user);
    await checkOut(client, checkout);
    const { reply } = await checkOut(client, checkout, { client_name: 'Second app' });
    assert.equal(reply.status, 422);
    assert.match(reply.text, /You used the one request that this plan allows: choose another plan/);
    assert.match(reply.text, /selected>Second app/);
    await requestPortal(app(), 'PUT', `/portal-api/plans/${planId}`, { PlanQuotaRenewalRate: 3600 });
    const { reply: later } = await checkOut(client, checkout, { client_name: 'Third app' });
    const [, moment] = /The next one is possible from ([^<]*)/.exec(later.text)!;
    const { accessRequests } = app().application.installation.services.portal;
    const first = await accessRequests.getSince(user.ID, planId, 0, 0);
    const renewsAt = first!.CreatedAt + 3_600_000;
    assert.ok(Math.abs(Date.parse(moment!.replaceAll('\u202f', ' ')) - renewsAt) <= 61_000, String(moment));
  });

  test('a page says that a provider is unavailable, and neither its address nor its answer', async () => {
    const { checkout } = await offerProduct({ AutoApproveAccessRequests: true });
    const fast = await addPlan(app(), { DisplayName: 'Fast', Catalogues: [1], AutoApproveAccessRequests: true });
    const user = await aUser();
    const client = await signedInClient(app(), user);
    const { reply: granted } = await checkOut(client, checkout);
    const [client_id, cred_id] = [fieldOf(granted.text, 'client_id'), fieldOf(granted.text, 'cred_id')];
    const { providers } = app().application.installation.services.portal;
    const moveTo = (URL: string) => providers.change(1, it => ({ ...it, MetaData: { ...it.MetaData, URL } }));
    await moveTo('http://127.0.0.1:9');
    try {
      const { reply } = await checkOut(client, checkout, { client_name: 'Second app' });
      const rolled = await client.post('/portal/private/credentials', { mode: 'roll', client_id, cred_id });
      assert.equal(rolled.status, 422);
      assert.match(rolled.text, /The gateway of this product is unavailable at the moment: try again later/);
      const changePath = `/portal/private/apps/${client_id}/credentials/${cred_id}/change-plan`;
      const changed = await client.post(changePath, { new_plan_id: String(fast.ID) });
      assert.deepEqual([reply.status, changed.status], [303, 303]);
      for (const { location } of [reply, changed]) {
        const { text } = await client.get(location);
        assert.match(text, /Being processed[\s\S]*The owner of this portal knows, and repeats it/);
        assert.doesNotMatch(text, /127\.0\.0\.1|Provider/);
      }
    } finally {
      await moveTo('');
    }
    const pending = (
      await requestPortal(app(), 'GET', '/portal-api/access_requests?status=pending&per_page=1000')
    ).filter((it: { UserID: number }) => it.UserID === user.ID);
    assert.deepEqual(
      pending.map((it: { ProvisionImmediately: boolean }) => it.ProvisionImmediately),
      [false, false],
    );
    for (const { ID, Failure } of pending) {
      assert.match(Failure, /Provider .* cannot be reached/);
      await eventually(() => requestPortal(app(), 'PUT', `/portal-api/access_requests/${ID}/approve`));
    }
  });

  test('calls with a key of an app, also a rotated or revoked one, are its usage, and of no one else', async () => {
    const { checkout, path } = await offerProduct({ AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const { reply } = await checkOut(client, checkout);
    assert.match((await client.get('/portal/private/analytics')).text, /No calls in this time/);
    assert.equal(await callGateway(path, keyOf(reply.text)!), 200);
    const [client_id, cred_id] = [fieldOf(reply.text, 'client_id'), fieldOf(reply.text, 'cred_id')];
    const { location } = await client.post('/portal/private/credentials', { mode: 'roll', client_id, cred_id });
    assert.equal(await callGateway(path, keyOf((await client.get(location)).text)!), 200);
    const text = await eventually(async () => {
      const page = (await client.get(`/portal/private/analytics?app=${client_id}&days=30`)).text;
      assert.match(page, /<li>2 calls<\/li>/);
      return page;
    });
    assert.match(text, /aria-label="2 calls in 30 days, at most 2 a day"/);
    assert.match(text, /<span class="swatch error">Errors among them</);
    assert.match(text, /<th scope="row">api-/);
    assert.match(text, /50 % of calls within [\d.,]+ ms, 95 % within/);
    assert.match(text, /<li>No calls in the 30 days before<\/li>/);
    const csv = await client.get(`/portal/private/analytics?app=${client_id}&days=7&format=csv`);
    assert.match(csv.headers.get('content-type')!, /^text\/csv/);
    const lines = csv.text.trimEnd().split('\r\n');
    assert.deepEqual([lines.length, lines[0]], [8, 'day,calls,errors,mean_ms']);
    const calls = lines.slice(1).map(line => Number(line.split(',')[1]));
    assert.equal(
      calls.reduce((sum, it) => sum + it, 0),
      2,
    );
    const countAll = async () => {
      const { Days } = await requestPortal(app(), 'GET', '/portal-api/overview?days=2');
      return Days.reduce((sum: number, { Calls }: { Calls: number }) => sum + Calls, 0);
    };
    const counted = await countAll();
    await client.post('/portal/private/credentials', { mode: 'delete', client_id, cred_id });
    assert.match((await client.get('/portal/private/analytics')).text, /<li>2 calls<\/li>/);
    assert.ok((await countAll()) >= counted, 'the overview of administrators has the calls of a revoked key');
    const other = await signedInClient(app(), await aUser());
    assert.match((await other.get('/portal/private/analytics')).text, /No calls in this time/);
    assert.equal((await other.get(`/portal/private/analytics?app=${client_id}`)).status, 404);
  });

  test('forms without the token of the visitor change nothing', async () => {
    const client = await signedInClient(app(), await aUser());
    const reply = await client.post('/portal/private/apps', { client_name: 'x', csrf_token: 'wrong' });
    assert.equal(reply.status, 403);
  });
});
