import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets } from '../../../../tests/support/app.ts';
import { startDashboardRelay } from '../../../../tests/support/dashboard-relay.ts';
import { readLastAudit } from '../../../../tests/support/last-audit.ts';
import {
  addApi,
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  portalTimePattern,
  requestPortal,
  toFileForm,
} from '../../../../tests/support/portal.ts';
import { sitePassword } from '../../../../tests/support/portal-site.ts';
import { type SiteClient, signedInClient } from '../../../../tests/support/site-client.ts';
import { eventually, waitUntilApplied } from '../../../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../../../tests/support/upstream.ts';

onEveryEngine('credentials of an app on the portal site', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());
  const aUser = (more: Record<string, unknown> = {}) => addDeveloper(app(), { Password: sitePassword, ...more });

  test('a custom credential is shown to the owner of the app, its key and secret once', async () => {
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const secrets = { CredentialKey: `key-${createPublicId()}`, CredentialSecret: `secret-${createPublicId()}` };
    rememberSecrets(secrets);
    const body = { Alias: 'Billing system', Type: 'CREDENTIAL_TYPE_CUSTOM', ...secrets };
    const custom = await requestPortal(app(), 'POST', `/portal-api/apps/${ID}/custom_credentials`, body, 201);
    const client = await signedInClient(app(), user);
    const hasSecret = (text: string) => Object.values(secrets).some(it => text.includes(it));
    const page = await client.get(`/portal/private/apps/${ID}`);
    assert.match(page.text, /Billing system/);
    assert.ok(!hasSecret(page.text));
    const reveal = `/portal/private/apps/${ID}/custom-credentials/${custom.ID}/reveal`;
    const stranger = await signedInClient(app(), await aUser());
    await stranger.get('/portal/private/profile');
    assert.equal((await stranger.post(reveal, {})).status, 404);
    const { ID: foreign } = await addApp(app(), { UserID: user.ID });
    const crossed = `/portal/private/apps/${foreign}/custom-credentials/${custom.ID}/reveal`;
    assert.equal((await client.post(crossed, {})).status, 404, 'by another app of the same user');
    assert.equal((await client.post(reveal, { csrf_token: 'guess' })).status, 403);
    await client.get(`/portal/private/apps/${ID}`);
    const shown = await client.post(reveal, {});
    assert.ok(
      Object.values(secrets).every(it => shown.text.includes(it)),
      shown.text,
    );
    assert.deepEqual(await readLastAudit(app()), ['revealOwnCustomCredential', String(custom.ID), '', 200]);
    assert.ok(!hasSecret((await client.post(reveal, {})).text), 'a second time');
    assert.match((await client.get(`/portal/private/apps/${ID}`)).text, /This key was shown once already/);
  });

  test('the card of a key has its last use and what is left of the quota, the list its calls', async () => {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const product = await addProduct(app(), { APIDetails: [{ APIID: await addApi(app(), name, { proxy }) }] });
    const plan = await addPlan(app(), { Quota: 5, QuotaRenewalRate: 3600 });
    const user = await aUser();
    const owned = await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, wanted);
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    const client = await signedInClient(app(), user);
    const readCard = async () => (await client.get(`/portal/private/apps/${owned.ID}`)).text;
    await eventually(async () => assert.match(await readCard(), /5 of 5 calls left/));
    assert.doesNotMatch(await readCard(), /Last used/);
    const listKeys = (query = '') => requestPortal(app(), 'GET', `/portal-api/credentials?q=${owned.Name}${query}`);
    assert.equal((await listKeys('&unused=true')).length, 1);
    assert.equal((await listKeys())[0].LastUsedAt, '');
    assert.match((await client.get('/portal/private/apps')).text, /0 calls in 24 hours/);
    await waitUntilApplied(app());
    const headers = { authorization: Credentials[0].Credential as string };
    assert.equal((await fetch(`${app().url.gateway}/${name}/`, { headers })).status, 200);
    await eventually(async () => assert.match(await readCard(), /4 of 5 calls left, renews/));
    await eventually(async () => assert.match(await readCard(), /Last used/));
    assert.match((await listKeys())[0].LastUsedAt, portalTimePattern);
    assert.deepEqual(await listKeys('&unused=true'), []);
    await eventually(async () => assert.match((await client.get('/portal/private/apps')).text, /1 call in 24 hours/));
    const other = await signedInClient(app(), await aUser());
    assert.equal((await other.get(`/portal/private/apps/${owned.ID}`)).status, 404);
  });

  test('a page reads five quotas of a provider at a time, ends the reads, and leaves its status', async () => {
    await using relay = await startDashboardRelay(() => app().url.dashboard);
    const MetaData = JSON.stringify({ URL: relay.url, Secret: app().credentials.admin_access_key });
    const body = { Name: `relayed-${createPublicId()}`, Type: 'gw-pro', Configuration: { MetaData } };
    const provider = await requestPortal(app(), 'POST', '/portal-api/providers', body);
    const ProviderID = provider.ID;
    const product = await addProduct(app(), { ProviderID, APIDetails: [{ APIID: await addApi(app()) }] });
    const plan = await addPlan(app(), { ProviderID, Quota: 5, QuotaRenewalRate: 3600 });
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const keys = 7;
    for (let count = 0; count < keys; count++)
      await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const unused = await requestPortal(app(), 'GET', '/portal-api/credentials?unused=true&per_page=1000');
    const isListed = unused.some((it: { AppID: number }) => it.AppID === ID);
    assert.equal(isListed, false, 'calls of a remote provider are unknown');
    const readStatus = async () => (await requestPortal(app(), 'GET', `/portal-api/providers/${ProviderID}`)).Status;
    const status = await readStatus();
    const client = await signedInClient(app(), user);
    const countQuotas = async () => {
      const page = await client.get(`/portal/private/apps/${ID}`);
      assert.equal(page.status, 200, page.text);
      return [...page.text.matchAll(/5 of 5 calls left/g)].length;
    };
    await eventually(async () => assert.equal(await countQuotas(), keys));
    relay.failure = 'silent';
    assert.equal(await countQuotas(), 0);
    assert.ok(relay.silent.max <= 5, `${relay.silent.max} reads at a time`);
    await eventually(() => assert.equal(relay.silent.now, 0));
    relay.failure = 'unavailable';
    assert.equal(await countQuotas(), 0);
    assert.notEqual(status, 'Down');
    assert.equal(await readStatus(), status);
    relay.failure = undefined;
    await eventually(async () => assert.equal(await countQuotas(), keys));
  });

  test('a key that is shown once is shown where the counts of calls cannot be read', async () => {
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const wanted = {
      PlanID: (await addPlan(app())).ID,
      ProductIDs: [(await addProduct(app())).ID],
      ProvisionImmediately: true,
    };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const { Credentials } = await requestPortal(app(), 'GET', `/portal-api/access_requests/${AccessRequestID}`);
    const client = await signedInClient(app(), user);
    await client.get('/portal/private/profile');
    const { schema } = app().application.installation.records.db;
    await schema.alterTable('usage').renameTo('usage_renamed').execute();
    try {
      const fields = { mode: 'reveal', client_id: String(ID), cred_id: String(Credentials[0].ID) };
      const shown = await client.post('/portal/private/credentials', fields);
      assert.equal(shown.status, 200, shown.text);
      assert.ok(shown.text.includes(Credentials[0].Credential));
    } finally {
      await schema.alterTable('usage_renamed').renameTo('usage').execute();
    }
  });

  test('an expired key, and one that expires soon, are marked on the card and in the list', async () => {
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const product = await addProduct(app());
    const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    const { AccessRequestID } = await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const client = await signedInClient(app(), user);
    const { portal, clock } = app().application.installation.services;
    const [credential] = await portal.credentials.ofRequests([AccessRequestID]);
    const expect = async (Expires: number, mark: RegExp) => {
      await portal.credentials.change(credential!.ID, it => ({ ...it, Expires }));
      for (const path of [`/portal/private/apps/${ID}`, '/portal/private/apps'])
        assert.match((await client.get(path)).text, mark, path);
    };
    await expect(clock.now() - 1000, /Expired/);
    await expect(clock.now() + 3 * 86_400_000 - 60_000, /Expires in 3 days/);
  });

  const catalogue = 1;
  const fieldOf = (text: string, name: string) => new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1] ?? '';
  const toQuery = (
    product: { Path: string },
    plan: { ID: number },
    more: Record<string, string> = {},
    catalogueId = catalogue,
  ) => {
    const choice = { product: product.Path, plan: String(plan.ID), catalogue: String(catalogueId) };
    return { choice, url: `/portal/private/cart/provision?${new URLSearchParams({ ...choice, ...more })}` };
  };
  const addOffered = async (catalogueId = catalogue) => {
    const name = `api-${createPublicId()}`;
    const proxy = { listen_path: `/${name}/`, target_url: upstream.url };
    const APIID = await addApi(app(), name, { proxy });
    const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [catalogueId] });
    return { ...product, call: (key: string) => callApi(name, key) };
  };
  const callApi = async (name: string, authorization: string) =>
    (await fetch(`${app().url.gateway}/${name}/`, { headers: { authorization } })).status;
  const listRequests = async (client: SiteClient) =>
    JSON.parse((await client.get('/portal/private/api/requests')).text) as Record<string, unknown>[];

  test('a note goes with a request that waits, and a longer one than 1,000 characters is refused', async () => {
    const [product, plan] = [await addOffered(), await addPlan(app(), { Catalogues: [catalogue] })];
    const client = await signedInClient(app(), await aUser());
    const { url, choice } = toQuery(product, plan);
    const send = async (note: string, accepted: string) => {
      const request_id = fieldOf((await client.get(url)).text, 'request_id');
      const fields = { ...choice, request_id, 'app-action': 'create', client_name: 'Noted', note, terms: accepted };
      return client.post('/portal/private/cart/provision', fields);
    };
    const version = { Version: createPublicId(), Content: 'Be fair.', ProductID: product.ID, Published: true };
    const terms = await requestPortal(app(), 'POST', '/portal-api/terms', version, 201);
    const listAcceptances = () => requestPortal(app(), 'GET', `/portal-api/terms/${terms.ID}/acceptances`);
    assert.equal((await send('x'.repeat(1001), String(terms.ID))).status, 422);
    assert.deepEqual([await listRequests(client), await listAcceptances()], [[], []]);
    const note = 'For the <b>summer</b> project';
    const sent = await send(note, String(terms.ID));
    assert.equal(sent.status, 303, sent.text);
    assert.equal((await listAcceptances()).length, 1);
    assert.match((await client.get(sent.location)).text, /Note: For the &lt;b&gt;summer/);
    const [request] = await listRequests(client);
    assert.equal((await requestPortal(app(), 'GET', `/portal-api/access_requests/${request!.ID}`)).Note, note);
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], Note: 'x'.repeat(1001) };
    const refused = await app().ask('PUT', `/portal-api/apps/${request!.AppID}/provision`, { body });
    assert.equal(refused.status, 422, refused.text);
  });

  test('one request has several products of a catalogue under one plan, and none of another catalogue', async () => {
    const [first, second, hidden] = [await addOffered(), await addOffered(), await addProduct(app())];
    const plan = await addPlan(app(), { Catalogues: [catalogue], AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const offered = (await client.get(toQuery(first, plan).url)).text;
    assert.ok(offered.includes(`<option value="${second.ID}">`) && !offered.includes(`<option value="${hidden.ID}">`));
    assert.equal((await client.get(toQuery(first, plan, { also: String(hidden.ID) }).url)).status, 404);
    const page = (await client.get(toQuery(first, plan, { also: '', add: String(second.ID) }).url)).text;
    assert.match(page, new RegExp(`aria-label="Remove ${second.Name}"`));
    const also = String(second.ID);
    assert.ok(page.includes(`name="also" value="${also}"`));
    const { choice } = toQuery(first, plan);
    const fields = { ...choice, request_id: fieldOf(page, 'request_id'), 'app-action': 'create', client_name: 'Both' };
    const forged = await client.post('/portal/private/cart/provision', { ...fields, also: `${also},${hidden.ID}` });
    assert.equal(forged.status, 404);
    const sent = await client.post('/portal/private/cart/provision', { ...fields, also });
    assert.equal(sent.status, 200, sent.text);
    const requests = await listRequests(client);
    assert.deepEqual(
      requests.map(it => it.ProductIDs),
      [[first.ID, second.ID]],
    );
    const key = /<code>([^<]{20,})<\/code> <button class="copy/.exec(sent.text)![1]!;
    await waitUntilApplied(app());
    assert.deepEqual([await first.call(key), await second.call(key)], [200, 200]);
  });

  test('terms of every product of a request are accepted with it, or none', async () => {
    const [first, second] = [await addOffered(), await addOffered()];
    const plan = await addPlan(app(), { Catalogues: [catalogue], AutoApproveAccessRequests: true });
    const addTerms = ({ ID }: { ID: number }) => {
      const version = { Version: createPublicId(), Content: 'Be fair.', ProductID: ID, Published: true };
      return requestPortal(app(), 'POST', '/portal-api/terms', version, 201);
    };
    const [ofFirst, ofSecond] = [await addTerms(first), await addTerms(second)];
    const countAccepted = async () => {
      const lists = [ofFirst, ofSecond].map(it =>
        requestPortal(app(), 'GET', `/portal-api/terms/${it.ID}/acceptances`),
      );
      return (await Promise.all(lists)).flat().length;
    };
    const client = await signedInClient(app(), await aUser());
    const also = String(second.ID);
    const { url, choice } = toQuery(first, plan, { also });
    const send = async (ticks: Record<string, string>) => {
      const request_id = fieldOf((await client.get(url)).text, 'request_id');
      const fields = { ...choice, also, request_id, 'app-action': 'create', client_name: 'Fair', ...ticks };
      return client.post('/portal/private/cart/provision', fields);
    };
    const refused = await send({ terms: String(ofFirst.ID) });
    assert.deepEqual([refused.status, await countAccepted()], [422, 0]);
    assert.match(refused.text, new RegExp(`id="terms-${second.ID}-note">Accept the terms`));
    const sent = await send({ terms: String(ofFirst.ID), [`terms-${second.ID}`]: String(ofSecond.ID) });
    assert.deepEqual([sent.status, await countAccepted()], [200, 2], sent.text);
  });

  test('a request has at most 20 products, and begins with the choice of one', async () => {
    const own = { Name: `catalogue-${createPublicId()}`, VisibilityStatus: 'Public' };
    const { ID: ownCatalogue } = await requestPortal(app(), 'POST', '/portal-api/catalogues', own);
    const APIDetails = [{ APIID: await addApi(app()) }];
    const products: { ID: number; Path: string }[] = [];
    for (let count = 0; count < 21; count++)
      products.push(await addProduct(app(), { APIDetails, Catalogues: [ownCatalogue] }));
    const plan = await addPlan(app(), { Catalogues: [ownCatalogue] });
    const client = await signedInClient(app(), await aUser());
    const [first, ...others] = products;
    const open = (count: number) => {
      const also = others
        .slice(0, count)
        .map(({ ID }) => ID)
        .join();
      return client.get(toQuery(first!, plan, { also }, ownCatalogue).url);
    };
    assert.match((await open(18)).text, /Add product/);
    const full = await open(19);
    assert.equal(full.status, 200);
    assert.doesNotMatch(full.text, /Add product/);
    assert.equal((await open(20)).status, 404);
    const empty = await client.get('/portal/private/cart/provision');
    assert.equal(empty.status, 200);
    assert.match(empty.text, /href="\/portal\/catalogue-products">Choose a product/);
  });

  test('a key of the same plan gets a further product, and that of another user does not', async () => {
    const [first, second] = [await addOffered(), await addOffered()];
    const plan = await addPlan(app(), { Catalogues: [catalogue], AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const request = async (by: SiteClient, product: { Path: string }, more: Record<string, string>) => {
      const { url, choice } = toQuery(product, plan);
      const request_id = fieldOf((await by.get(url)).text, 'request_id');
      return by.post('/portal/private/cart/provision', { ...choice, request_id, client_name: 'Reuse', ...more });
    };
    const issued = await request(client, first, { 'app-action': 'create' });
    const key = /<code>([^<]{20,})<\/code> <button class="copy/.exec(issued.text)![1]!;
    const [own] = await listRequests(client);
    const reuse = { 'app-action': 'reuse', credential_request: String(own!.ID) };
    const stranger = await signedInClient(app(), await aUser());
    assert.equal((await request(stranger, second, reuse)).status, 422);
    assert.equal((await request(client, first, reuse)).status, 422, 'the key has the product already');
    const added = await request(client, second, reuse);
    assert.equal(added.status, 303, added.text);
    const [after] = (await listRequests(client)).filter(({ ID }) => ID === own!.ID);
    assert.deepEqual(after!.ProductIDs, [first.ID, second.ID]);
    await waitUntilApplied(app());
    assert.deepEqual([await first.call(key), await second.call(key)], [200, 200]);
  });

  test('a key that expires is renewed by a request for the same product, plan and app', async () => {
    const product = await addOffered();
    const plan = await addPlan(app(), { Catalogues: [catalogue], AutoApproveAccessRequests: true, KeyExpiresIn: 3600 });
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const client = await signedInClient(app(), user);
    const { text } = await client.get(`/portal/private/apps/${ID}`);
    const url = /href="([^"]*)">Renew</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const page = (await client.get(url)).text;
    assert.ok(page.includes(`<option value="${ID}" selected>`), url);
    const { choice } = toQuery(product, plan);
    const fields = { ...choice, request_id: fieldOf(page, 'request_id'), 'app-action': 'existing' };
    const sent = await client.post('/portal/private/cart/provision', { ...fields, 'selected-app': String(ID) });
    assert.equal(sent.status, 200, sent.text);
    assert.equal((await listRequests(client)).length, 2);
  });

  test('a key of two products is renewed with both, and has no renewal while one of them is hidden', async () => {
    const [first, second] = [await addOffered(), await addOffered()];
    const plan = await addPlan(app(), { Catalogues: [catalogue], KeyExpiresIn: 3600 });
    const user = await aUser();
    const { ID } = await addApp(app(), { UserID: user.ID });
    const wanted = { PlanID: plan.ID, ProductIDs: [first.ID, second.ID], ProvisionImmediately: true };
    await requestPortal(app(), 'PUT', `/portal-api/apps/${ID}/provision`, wanted);
    const client = await signedInClient(app(), user);
    const findUrl = async () => {
      const { status, text } = await client.get(`/portal/private/apps/${ID}`);
      assert.equal(status, 200);
      return /href="([^"]*)">Renew</.exec(text)?.[1]?.replaceAll('&amp;', '&');
    };
    const url = (await findUrl()) ?? '';
    assert.ok((await client.get(url)).text.includes(`name="also" value="${second.ID}"`), url);
    const { products } = app().application.installation.services.portal;
    await products.change(second.ID, it => ({ ...it, Hidden: true }));
    assert.equal((await client.get(url)).status, 404);
    assert.equal(await findUrl(), undefined);
    await products.change(second.ID, it => ({ ...it, Hidden: false }));
    assert.equal(await findUrl(), url);
  });

  test('the command of a new key calls the first operation of the document that needs no parameter', async () => {
    const own = { Name: `catalogue-${createPublicId()}`, VisibilityStatus: 'Public' };
    const { ID: ownCatalogue } = await requestPortal(app(), 'POST', '/portal-api/catalogues', own);
    const product = await addOffered(ownCatalogue);
    const [{ APIID, ListenPath }] = product.APIDetails;
    const get = { responses: { 200: { description: 'ok' } } };
    const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
    const paths = { '/orders/{id}': { parameters: [id], get }, '/a;b': { get }, '/orders': { post: get, get } };
    const document = JSON.stringify({ openapi: '3.0.3', info: { title: 'Orders', version: '1' }, paths });
    const oas = `/portal-api/products/${product.ID}/api-details/${APIID}/oas`;
    assert.equal((await app().ask('POST', oas, { body: toFileForm(document) })).status, 200);
    const plan = await addPlan(app(), { Catalogues: [ownCatalogue], AutoApproveAccessRequests: true });
    const client = await signedInClient(app(), await aUser());
    const { url, choice } = toQuery(product, plan, {}, ownCatalogue);
    const request_id = fieldOf((await client.get(url)).text, 'request_id');
    const fields = { ...choice, request_id, 'app-action': 'create', client_name: 'Called' };
    const { text } = await client.post('/portal/private/cart/provision', fields);
    assert.ok(text.includes(`${app().url.gateway}${ListenPath}orders</code>`), text);
    const home = (await client.get('/')).text;
    assert.match(home, /<h2 id="own-apps">Your apps<\/h2>.*Called/s);
    const page = `/portal/catalogue-products/${product.Path}`;
    const marks = async (by: SiteClient) => [...(await by.get(page)).text.matchAll(/Your plan/g)].length;
    assert.equal(await marks(client), 1);
    assert.equal(await marks(await signedInClient(app(), await aUser())), 0);
    const comparison = /<caption>Comparison<\/caption>/;
    await addPlan(app(), { Catalogues: [ownCatalogue] });
    assert.doesNotMatch((await client.get(page)).text, comparison, 'of two plans');
    await addPlan(app(), { Catalogues: [ownCatalogue] });
    assert.match((await client.get(page)).text, comparison);
  });
});
