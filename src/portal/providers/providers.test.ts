import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import {
  addAccessRequest,
  addApi,
  localProvider,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';
import { maskedSecret, spanText } from './schema.ts';

const secret = 'a-secret-nobody-may-see';
const metaData = (more: object = {}) =>
  JSON.stringify({ URL: 'http://127.0.0.1:9', Secret: secret, OrgID: 'o', Gateway: 'https://api.example', ...more });
const provider = (Name: string, more: object = {}) => ({
  Name,
  Type: 'gw-pro',
  Configuration: { MetaData: metaData(more) },
});

test('a duration is formatted in its two largest units', () => {
  assert.equal(spanText(192_400), '3 minutes 12 seconds');
  assert.equal(spanText(86_400_000 + 3_600_000), '1 day 1 hour');
  assert.equal(spanText(0), '0 seconds');
  assert.equal(spanText(-5), '0 seconds');
});

onEveryEngine('portal providers', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api/providers${path}`, body === undefined ? {} : { body });

  test('a new provider has status Unknown, every member, and a masked secret', async () => {
    const { status, body } = await ask('POST', '', provider('Main'));
    assert.equal(status, 200);
    const { ID, CID, CreatedAt, UpdatedAt, Configuration, ...rest } = body;
    assert.deepEqual(rest, {
      ...{ Name: 'Main', Type: 'gw-pro', Status: 'Unknown', LastSyncedAt: '', LastError: '', Products: 0, Plans: 0 },
    });
    assert.match(CID, /^[0-9A-Za-z]{27}$/);
    for (const time of [CreatedAt, UpdatedAt]) assert.match(time, portalTimePattern);
    assert.equal(Configuration.ID, ID);
    assert.deepEqual(JSON.parse(Configuration.MetaData), {
      URL: 'http://127.0.0.1:9',
      Secret: maskedSecret,
      OrgID: 'o',
      Gateway: 'https://api.example',
      PoliciesTags: [],
      InsecureSkipVerify: false,
    });
    assert.deepEqual((await ask('GET', `/${ID}`)).body, body);
    assert.deepEqual((await ask('GET', `/${CID}`)).body, body);
    const [row] = (await ask('GET', '?limit=1')).body;
    const members = ['CID', 'ID', 'LastError', 'LastSyncedAt', 'Name', 'Plans', 'Products', 'Status', 'Type'];
    assert.deepEqual(Object.keys(row).sort(), members);
  });

  test('the secret of a provider is sealed in the database and in no response', async () => {
    const { body } = await ask('POST', '', provider('Sealed'));
    const { records } = app().application.installation;
    const row = await records.db
      .selectFrom('portal_providers')
      .selectAll()
      .where('id', '=', body.ID)
      .executeTakeFirstOrThrow();
    assert.doesNotMatch(row.body, new RegExp(secret));
    for (const path of ['', `/${body.ID}`]) assert.doesNotMatch((await ask('GET', path)).text, new RegExp(secret));
    const sync = await ask('PUT', `/${body.ID}/synchronize`);
    assert.doesNotMatch(sync.text, new RegExp(secret));
  });

  test('a returned provider can be sent back: the mask keeps the secret, except for another host', async () => {
    const { body: before } = await ask('POST', '', provider('Edited'));
    const readStored = async () => app().application.installation.services.portal.providers.get(before.ID);
    const renamed = await ask('PUT', `/${before.ID}`, { ...before, Name: 'Edited again' });
    assert.equal(renamed.status, 200, renamed.text);
    assert.equal(renamed.body.Name, 'Edited again');
    assert.equal((await readStored())?.Secret, secret);
    const elsewhere = { Configuration: { MetaData: metaData({ URL: 'http://127.0.0.1:10', Secret: maskedSecret }) } };
    const refused = await ask('PUT', `/${before.ID}`, elsewhere);
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /^Configuration\.MetaData\.Secret: must be sent again/);
    assert.equal((await readStored())?.MetaData.URL, 'http://127.0.0.1:9');
    const fresh = { Configuration: { MetaData: metaData({ URL: 'http://127.0.0.1:10', Secret: 'another' }) } };
    assert.equal((await ask('PUT', `/${before.ID}`, fresh)).status, 200);
    assert.equal((await readStored())?.Secret, 'another');
  });

  test('an invalid configuration is refused with the path of every fault', async () => {
    const errors = async (Configuration: unknown) =>
      (await ask('POST', '', { Name: 'x', Type: 'gw-pro', Configuration })).body.errors;
    assert.deepEqual(await errors({ MetaData: '{' }), ['Configuration.MetaData: must be a JSON document as text']);
    assert.deepEqual(await errors({ MetaData: '{"URL":"ftp://x"}' }), [
      'Configuration.MetaData.URL: must be an http or https address',
    ]);
    assert.deepEqual(await errors({ MetaData: '{"URL":"http://x"}' }), [
      'Configuration.MetaData.Secret: must be the access key of a dashboard user there',
    ]);
    const wrong = await ask('POST', '', { Name: '', Type: 'other', Configuration: { MetaData: '{}' } });
    assert.deepEqual([wrong.status, wrong.body.errors], [422, ['Name: must not be empty', 'Type: must be gw-pro']]);
  });

  test('unknown providers are 404 on read and delete, 422 on update and synchronise', async () => {
    for (const id of ['99999', '2xQ9bR7mKf3TzL0aYw5HcV8nPdE']) {
      assert.equal((await ask('GET', `/${id}`)).status, 404);
      assert.equal((await ask('GET', `/${id}/apis`)).status, 404);
      assert.equal((await ask('DELETE', `/${id}`)).status, 404);
      assert.equal((await ask('PUT', `/${id}`, { Name: 'x' })).status, 422);
      assert.equal((await ask('PUT', `/${id}/synchronize`)).status, 422);
    }
  });

  test('APIs of a provider are found by a part of their name, in any case, also inactive ones', async () => {
    const open = await addApi(app(), 'Finder-open', { use_standard_auth: false, use_keyless: true, active: false });
    const closed = await addApi(app(), 'finder-closed');
    const found = (await ask('GET', `/${localProvider}/apis?q=fINDER-`)).body;
    assert.deepEqual(
      found.map(({ APIID, Name, Status, AuthTypes }: Record<string, unknown>) => [APIID, Name, Status, AuthTypes]),
      [
        [closed, 'finder-closed', true, ['authToken']],
        [open, 'Finder-open', false, ['keyless']],
      ],
    );
    assert.equal((await ask('GET', `/${localProvider}/apis?q=%25`)).body.length, 0);
  });

  test('synchronising creates products and plans from policies, hides those of deleted ones and shows them again', async () => {
    const apiId = await addApi(app(), 'sync-api');
    const policies = '/api/portal/policies';
    const rights = { [apiId]: { api_id: apiId, api_name: 'sync-api', versions: ['Default'] } };
    const access = { name: 'sync-access', tags: ['portal'], partitions: { acl: true }, access_rights: rights };
    const limits = {
      name: 'sync-limits',
      tags: ['portal'],
      partitions: { quota: true, rate_limit: true },
      access_rights: rights,
      rate: 7,
      per: 5,
      quota_max: 100,
      quota_renewal_rate: 60,
      key_expires_in: 90,
      meta_data: { tier: 'silver' },
    };
    const mixed = {
      name: 'sync-mixed',
      tags: ['portal'],
      partitions: { acl: true, quota: true },
      access_rights: rights,
    };
    const untagged = { ...access, name: 'sync-untagged', tags: ['other'] };
    const [accessId, limitsId] = await Promise.all(
      [access, limits, mixed, untagged].map(async it => (await requestPortal(app(), 'POST', policies, it)).Message),
    );
    const { ID } = (await ask('POST', '', provider('Tagged', { URL: '', OrgID: '', PoliciesTags: ['portal'] }))).body;
    const own = async (path: string) => {
      const rows: { ID: number; ReferenceID?: string }[] = await requestPortal(
        app(),
        'GET',
        `/portal-api/${path}?per_page=100`,
      );
      const all = await Promise.all(rows.map(row => requestPortal(app(), 'GET', `/portal-api/${path}/${row.ID}`)));
      return all.filter(it => it.ProviderID === ID);
    };
    const sync = () => ask('PUT', `/${ID}/synchronize`);
    const first = await sync();
    const none = { Added: 0, Changed: 0, Hidden: 0 };
    const one = { ...none, Added: 1 };
    const done = { status: 'ok', message: 'Action Synchronize: Executed successfully' };
    assert.deepEqual(first.body, { ...done, Products: one, Plans: one });
    assert.deepEqual((await sync()).body, { ...done, Products: none, Plans: none });
    const shown = (await ask('GET', `/${ID}`)).body;
    assert.equal(shown.Status, 'Up');
    assert.match(shown.LastSyncedAt, /^\d+ seconds? ago$/);

    const [product, ...noOther] = await own('products');
    assert.deepEqual(noOther, []);
    assert.deepEqual([product.Name, product.ReferenceID, product.Catalogues], ['sync-access', accessId, []]);
    assert.deepEqual(product.APIDetails[0], {
      APIID: apiId,
      Name: 'sync-api',
      Description: '',
      APIType: 'REST',
      ListenPath: '/sync-api/',
      TargetURL: 'http://127.0.0.1:9/',
      OASUrl: '',
      Status: true,
    });
    const [plan, ...noMore] = await own('plans');
    assert.deepEqual(noMore, []);
    assert.deepEqual(
      [plan.Name, plan.ReferenceID, plan.RateLimit, plan.Per, plan.Quota, plan.QuotaRenewalRate, plan.KeyExpiresIn],
      ['sync-limits', limitsId, 7, 5, 100, 60, 90],
    );
    assert.deepEqual(plan.MetaData, { tier: 'silver' });

    await requestPortal(app(), 'PUT', `/portal-api/products/${product.ID}`, {
      Description: 'Ours',
      DisplayName: 'Nice',
    });
    await requestPortal(app(), 'PUT', `${policies}/${accessId}`, { ...access, name: 'sync-renamed' });
    assert.deepEqual((await sync()).body.Products, { ...none, Changed: 1 });
    const [renamed] = await own('products');
    assert.deepEqual([renamed.ID, renamed.Name, renamed.Description], [product.ID, 'sync-renamed', 'Ours']);

    await requestPortal(app(), 'PUT', `${policies}/${accessId}`, { ...access, tags: [] });
    assert.deepEqual((await sync()).body.Products, { ...none, Hidden: 1 });
    const [hidden] = await own('products');
    assert.deepEqual([hidden.ID, hidden.Hidden, hidden.DisplayName], [product.ID, true, 'Nice']);
    await requestPortal(app(), 'PUT', `${policies}/${accessId}`, access);
    await sync();
    assert.equal((await own('products'))[0].Hidden, false);
  });

  test('a provider of this installation reads the organisation it was created for, which is listed', async () => {
    const here = (OrgID: string, more: object = {}) => ({
      Name: 'Here',
      Type: 'gw-pro',
      Configuration: { MetaData: JSON.stringify({ OrgID, ...more }) },
    });
    const orgOf = (body: { Configuration: { MetaData: string } }) => JSON.parse(body.Configuration.MetaData).OrgID;
    const unknown = await ask('POST', '', here('nowhere'));
    assert.deepEqual(
      [unknown.status, unknown.body.errors],
      [422, ['Configuration.MetaData.OrgID: there is no organisation nowhere']],
    );
    const own = app().credentials.organisation_id;
    assert.equal(orgOf((await ask('GET', `/${localProvider}`)).body), own);
    const { body: plain } = await ask('POST', '', here(''));
    assert.equal(orgOf(plain), own);
    const other = await app().stranger();
    const moves = [here(other.orgId), here('nowhere')];
    for (const body of moves) {
      const moved = await ask('PUT', `/${plain.ID}`, body);
      assert.equal(moved.status, 422, moved.text);
      assert.match(moved.body.errors[0], /^Configuration\.MetaData\.OrgID: cannot change/);
    }
    const { body: remote } = await ask('POST', '', here(other.orgId, { URL: 'http://127.0.0.1:9', Secret: 's' }));
    const brought = await ask('PUT', `/${remote.ID}`, here(other.orgId));
    assert.equal(brought.status, 422, brought.text);
    assert.match(brought.body.errors[0], /^Configuration\.MetaData\.URL: is required/);
    for (const body of [here(''), here(own)]) assert.equal(orgOf((await ask('PUT', `/${plain.ID}`, body)).body), own);
    assert.equal((await ask('PUT', `/${plain.ID}/synchronize`)).status, 200);
  });

  test('the organisation that a provider was created for has it in its audit log', async () => {
    const other = await app().stranger();
    const policy = { name: 'theirs', partitions: { acl: true } };
    const written = await app().ask('POST', '/api/portal/policies', { credential: other.accessKey, body: policy });
    assert.equal(written.status, 200, written.text);
    const MetaData = JSON.stringify({ OrgID: other.orgId });
    const { body } = await ask('POST', '', { Name: 'Theirs', Type: 'gw-pro', Configuration: { MetaData } });
    assert.equal((await ask('PUT', `/${body.ID}/synchronize`)).status, 200);
    const { text } = await app().ask('GET', '/api/audit-logs', { credential: other.accessKey });
    for (const action of ['createProvider', 'synchronizeProvider']) assert.match(text, new RegExp(action));
  });

  test('synchronising all continues after a failure and reports each one', async () => {
    const { body: unreachable } = await ask('POST', '', provider('Nobody there'));
    const { status, body } = await ask('PUT', '/all/synchronize');
    assert.equal(status, 422);
    assert.equal(body.status, 'error');
    const line = body.errors.find((error: string) => error.startsWith('Failed to sync provider Nobody there: '));
    assert.match(line, /ECONNREFUSED/);
    assert.equal((await ask('GET', `/${unreachable.ID}`)).body.Status, 'Down');
    assert.equal((await ask('GET', `/${localProvider}`)).body.Status, 'Up');
  });

  test('removing a provider removes its products and plans and revokes its keys', async () => {
    const { ID } = (await ask('POST', '', provider('Passing', { URL: '', OrgID: '' }))).body;
    const apiId = await addApi(app());
    const product = await requestPortal(
      app(),
      'POST',
      '/portal-api/products',
      { Name: 'passing', ProviderID: ID, APIDetails: [{ APIID: apiId }] },
      201,
    );
    const plan = await requestPortal(app(), 'POST', '/portal-api/plans', { Name: 'passing plan', ProviderID: ID });
    const { app: owned } = await addAccessRequest(app());
    const provision = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    await requestPortal(app(), 'PUT', `/portal-api/apps/${owned.ID}/provision`, provision);
    const before = (await requestPortal(app(), 'GET', `/portal-api/apps/${owned.ID}`)).AccessRequests.flat();
    const keyOf = (providerId: number) =>
      before.find((it: { ProviderID: number }) => it.ProviderID === providerId).Credentials[0].Credential;
    assert.deepEqual((await ask('DELETE', `/${ID}`)).body, { status: 'ok' });
    for (const path of [`products/${product.ID}`, `plans/${plan.ID}`, `providers/${ID}`])
      assert.equal((await app().ask('GET', `/portal-api/${path}`)).status, 404);
    assert.equal((await app().ask('GET', `/api/keys/${encodeURIComponent(keyOf(ID))}`)).status, 404);
    assert.equal((await app().ask('GET', `/api/keys/${encodeURIComponent(keyOf(localProvider))}`)).status, 200);
  });
});
