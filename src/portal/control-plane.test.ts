import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { expectProblem } from '../../tests/contract/expect-problem.ts';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { makeAuthority, makeServerCertificate } from '../../tests/support/certificates.ts';
import { startDashboardRelay } from '../../tests/support/dashboard-relay.ts';
import { addApi, addApp, requestPortal } from '../../tests/support/portal.ts';
import { startUpstream } from '../../tests/support/upstream.ts';
import { noDashboard } from './control-plane-check.ts';
import { problem } from './problems.ts';

/** The portal of one installation publishing from another, which has its own database, keys and policies. */
describe('remote control plane', () => {
  let portal: TestApp;
  let other: TestApp;
  let providerId: number;
  let apiId: string;
  const metaData = (Secret: string, URL = other.url.dashboard) => ({ MetaData: JSON.stringify({ URL, Secret }) });
  const ask = (method: string, path: string, body?: unknown) =>
    portal.ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const keyStatus = async (key: string) => (await other.ask('GET', `/api/keys/${encodeURIComponent(key)}`)).status;

  before(async () => {
    [portal, other] = await Promise.all([startApp('sqlite'), startApp('sqlite')]);
    apiId = await addApi(other, 'remote-orders');
    const body = { Name: 'Far', Type: 'gw-pro', Configuration: metaData(other.credentials.admin_access_key) };
    providerId = (await requestPortal(portal, 'POST', '/portal-api/providers', body)).ID;
  });
  after(async () => {
    await portal?.close();
    await other?.close();
  });

  const offer = async (name: string) => {
    const details = [{ APIID: apiId, Description: 'Orders' }];
    const product = { Name: `${name} product`, ProviderID: providerId, APIDetails: details };
    const plan = { Name: `${name} plan`, ProviderID: providerId, RateLimit: 5, Per: 1, KeyExpiresIn: 60 };
    return {
      product: await requestPortal(portal, 'POST', '/portal-api/products', product, 201),
      plan: await requestPortal(portal, 'POST', '/portal-api/plans', plan),
    };
  };

  test('policies and keys are created, rotated and removed at the remote installation', async () => {
    const { product, plan } = await offer('whole');
    assert.equal(product.AuthType, 'authToken');
    assert.deepEqual(
      [product.APIDetails[0].Name, product.APIDetails[0].ListenPath],
      ['remote-orders', '/remote-orders/'],
    );
    const access = await requestPortal(other, 'GET', `/api/portal/policies/${product.ReferenceID}`);
    assert.deepEqual(
      [access.name, access.partitions.acl, Object.keys(access.access_rights)],
      ['whole product', true, [apiId]],
    );
    const limits = await requestPortal(other, 'GET', `/api/portal/policies/${plan.ReferenceID}`);
    assert.deepEqual([limits.rate, limits.per, limits.partitions.rate_limit], [5, 1, true]);

    const owned = await addApp(portal);
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
    await requestPortal(portal, 'PUT', `/portal-api/apps/${owned.ID}/provision`, body);
    const credentialOf = async () => (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests[0][0].Credentials[0];
    const credential = await credentialOf();
    const key = await requestPortal(other, 'GET', `/api/keys/${encodeURIComponent(credential.Credential)}`);
    assert.deepEqual(key.data.apply_policies, [product.ReferenceID, plan.ReferenceID]);
    assert.equal(key.key_hash, credential.CredentialHash);
    assert.ok(key.data.expires > 0);

    const [requestId] = /\d+/.exec(credential.AccessRequest)!;
    const path = `/apps/${owned.ID}/access-requests/${requestId}/credentials/${credential.ID}`;
    assert.equal((await ask('PUT', `${path}/rotate`)).status, 200);
    const fresh = await credentialOf();
    assert.deepEqual([await keyStatus(credential.Credential), await keyStatus(fresh.Credential)], [404, 200]);

    assert.equal((await ask('DELETE', `/plans/${plan.ID}`)).status, 409);
    assert.equal((await ask('DELETE', `/apps/${owned.ID}`)).status, 200);
    assert.equal(await keyStatus(fresh.Credential), 404);
    for (const gone of [`/products/${product.ID}`, `/plans/${plan.ID}`])
      assert.equal((await ask('DELETE', gone)).status, 200);
    for (const { ReferenceID } of [product, plan])
      assert.equal((await other.ask('GET', `/api/portal/policies/${ReferenceID}`)).status, 404);
  });

  test('APIs of the remote installation are found by a part of their name', async () => {
    const { body } = await ask('GET', `/providers/${providerId}/apis?q=TE-ORD`);
    const { APIID, Name, APIType, ListenPath, Status, AuthTypes } = body[0];
    assert.deepEqual(
      [body.length, APIID, Name, APIType, ListenPath, Status, AuthTypes],
      [1, apiId, 'remote-orders', 'REST', '/remote-orders/', true, ['authToken']],
    );
    assert.deepEqual((await ask('GET', `/providers/${providerId}/apis?q=${encodeURIComponent('a&p=2')}`)).body, []);
  });

  test('a change updates the remote policy and keeps its other members', async () => {
    const { product, plan } = await offer('merged');
    const path = `/api/portal/policies/${product.ReferenceID}`;
    const policy = await requestPortal(other, 'GET', path);
    policy.access_rights[apiId].allowed_urls = [{ url: '/only', methods: ['GET'] }];
    const { access_rights_array: _list, ...sent } = policy;
    await requestPortal(other, 'PUT', path, { ...sent, meta_data: { set: 'there' } });
    await requestPortal(portal, 'PUT', `/portal-api/products/${product.ID}`, { Name: 'merged again' });
    const changed = await requestPortal(other, 'GET', path);
    assert.equal(changed.name, 'merged again');
    assert.deepEqual(changed.access_rights[apiId].allowed_urls, [{ url: '/only', methods: ['GET'] }]);
    assert.deepEqual(changed.meta_data, { set: 'there' });
    await requestPortal(portal, 'PUT', `/portal-api/plans/${plan.ID}`, { RateLimit: '9', MetaData: { a: 'b' } });
    const limits = await requestPortal(other, 'GET', `/api/portal/policies/${plan.ReferenceID}`);
    assert.deepEqual([limits.rate, limits.meta_data], [9, { a: 'b' }]);
  });

  test('synchronising imports the remote policies', async () => {
    const body = { name: 'made there', partitions: { quota: true }, quota_max: 3, quota_renewal_rate: 60 };
    const { Message: id } = await requestPortal(other, 'POST', '/api/portal/policies', body);
    assert.equal((await ask('PUT', `/providers/${providerId}/synchronize`)).status, 200);
    const plans = await requestPortal(portal, 'GET', '/portal-api/plans?per_page=100');
    const plan = plans.find((it: { Name: string }) => it.Name === 'made there');
    assert.equal((await ask('GET', `/plans/${plan.ID}`)).body.ReferenceID, id);
    assert.equal((await ask('GET', `/providers/${providerId}`)).body.Status, 'Up');
  });

  test('a remote refusal is returned with its message, and nothing is stored', async () => {
    const { product } = await offer('twice');
    const again = { Name: product.Name, ProviderID: providerId, APIDetails: [{ APIID: apiId }] };
    const refused = await ask('POST', '/products', again);
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /^Provider Far refused: 409 A policy named twice product already exists/);
    const unknown = await ask('POST', '/products', { ...again, Name: 'x', APIDetails: [{ APIID: 'nothing' }] });
    assert.deepEqual(unknown.body.errors, ['APIDetails[0].APIID: provider Far has no API nothing']);
    for (const id of ['.', '..']) {
      const dots = await ask('POST', '/products', { ...again, Name: 'x', APIDetails: [{ APIID: id }] });
      assert.deepEqual(dots.body.errors, [`APIDetails[0].APIID: provider Far has no API ${id}`]);
    }
    assert.equal((await ask('GET', `/providers/${providerId}`)).body.Status, 'Up');
  });

  test('with rejected credentials a request stays pending and the provider is Down', async () => {
    const { product, plan } = await offer('rejected');
    const owned = await addApp(portal);
    const provision = { PlanID: plan.ID, ProductIDs: [product.ID] };
    const { AccessRequestID: id } = await requestPortal(
      portal,
      'PUT',
      `/portal-api/apps/${owned.ID}/provision`,
      provision,
    );
    await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, {
      Configuration: metaData('wrong-secret'),
    });
    const refused = await ask('PUT', `/access_requests/${id}/approve`);
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0], /^Provider Far cannot be reached: 401 /);
    assert.doesNotMatch(refused.text, /wrong-secret/);
    assert.equal((await ask('GET', `/access_requests/${id}`)).body.Status, 'pending');
    assert.equal((await ask('GET', `/providers/${providerId}`)).body.Status, 'Down');

    const immediately = await ask('PUT', `/apps/${owned.ID}/provision`, { ...provision, ProvisionImmediately: true });
    assert.equal(immediately.status, 422);
    assert.equal((await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests.length, 1);

    const right = { Configuration: metaData(other.credentials.admin_access_key) };
    await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, right);
    assert.equal((await ask('PUT', `/access_requests/${id}/approve`)).status, 200);
    const [credential] = (await ask('GET', `/access_requests/${id}`)).body.Credentials;
    assert.equal(await keyStatus(credential.Credential), 200);

    await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, {
      Configuration: metaData('wrong-secret'),
    });
    assert.equal((await ask('DELETE', `/apps/${owned.ID}`)).status, 422);
    const path = `/apps/${owned.ID}/access-requests/${id}/credentials/${credential.ID}`;
    assert.equal((await ask('PUT', `${path}/rotate`)).status, 422);
    assert.equal((await ask('GET', path)).body.Credential, credential.Credential);
    await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, right);
    assert.equal((await ask('DELETE', `/apps/${owned.ID}`)).status, 200);
    assert.equal(await keyStatus(credential.Credential), 404);
  });

  test('an approval in progress blocks other decisions, and a request removed meanwhile leaves no key', async () => {
    const asked = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const keys: string[] = [];
    const slow = createPlainServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray());
      const headers = { authorization: request.headers.authorization ?? '' };
      const sent = body.length > 0 ? { body } : {};
      const answer = await fetch(other.url.dashboard + request.url, { method: request.method!, headers, ...sent });
      const text = await answer.text();
      if (request.method === 'POST' && request.url?.startsWith('/api/keys')) {
        keys.push(JSON.parse(text).key_id);
        asked.resolve();
        await released.promise;
      }
      response.writeHead(answer.status).end(text);
    });
    slow.listen(0, '127.0.0.1');
    await once(slow, 'listening');
    try {
      const { product, plan } = await offer('slow');
      const owned = await addApp(portal);
      const provision = { PlanID: plan.ID, ProductIDs: [product.ID] };
      const { AccessRequestID: id } = await requestPortal(
        portal,
        'PUT',
        `/portal-api/apps/${owned.ID}/provision`,
        provision,
      );
      const address = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
      const configuration = (url: string) => ({ Configuration: metaData(other.credentials.admin_access_key, url) });
      await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, configuration(address));
      const approving = ask('PUT', `/access_requests/${id}/approve`);
      await asked.promise;
      for (const action of ['approve', 'reject']) {
        const again = await ask('PUT', `/access_requests/${id}/${action}`);
        assert.deepEqual(again.body.errors, ['The access request is being approved at the moment']);
      }
      assert.equal((await ask('DELETE', `/plans/${plan.ID}`)).status, 409);
      assert.equal((await ask('DELETE', `/access_requests/${id}`)).status, 200);
      released.resolve();
      assert.equal((await approving).status, 422);
      assert.equal(keys.length, 1);
      assert.equal(await keyStatus(keys[0]!), 404);
      await requestPortal(portal, 'PUT', `/portal-api/providers/${providerId}`, configuration(other.url.dashboard));
    } finally {
      slow.closeAllConnections();
      slow.close();
    }
  });

  test('every operation reports a provider that refuses, or that is unavailable, and changes nothing', async () => {
    await using relay = await startDashboardRelay(() => other.url.dashboard);
    const Configuration = metaData(other.credentials.admin_access_key, relay.url);
    const provider = { Name: 'Relay', Type: 'gw-pro', Configuration };
    const { ID: ProviderID } = await requestPortal(portal, 'POST', '/portal-api/providers', provider);
    const newProduct = (Name: string) => ({ Name, ProviderID, APIDetails: [{ APIID: apiId }] });
    const newPlan = (Name: string) => ({ Name, ProviderID, RateLimit: 5, Per: 1 });
    const product = await requestPortal(portal, 'POST', '/portal-api/products', newProduct('relayed'), 201);
    const plan = await requestPortal(portal, 'POST', '/portal-api/plans', newPlan('relayed plan'));
    const unused = await requestPortal(portal, 'POST', '/portal-api/plans', newPlan('unused plan'));
    const owned = await addApp(portal);
    const provision = { PlanID: plan.ID, ProductIDs: [product.ID] };
    const app = `/portal-api/apps/${owned.ID}`;
    const immediate = { ...provision, ProvisionImmediately: true };
    const { AccessRequestID: granted } = await requestPortal(portal, 'PUT', `${app}/provision`, immediate);
    const { AccessRequestID: another } = await requestPortal(portal, 'PUT', `${app}/provision`, immediate);
    const { AccessRequestID: pending } = await requestPortal(portal, 'PUT', `${app}/provision`, provision);
    const managed = { Alias: 'a', Type: 'CREDENTIAL_TYPE_GW_MANAGED', PlanID: plan.ID, ProductIDs: [product.ID] };
    const custom = await requestPortal(portal, 'POST', `${app}/custom_credentials`, managed, 201);
    const [credential] = (await ask('GET', `/access_requests/${granted}`)).body.Credentials;
    const request = `${app}/access-requests/${granted}`;
    const rotate = `${request}/credentials/${credential.ID}/rotate?overlap_seconds=60`;
    await requestPortal(portal, 'PUT', rotate);
    const requests: readonly (readonly [name: string, path: string, body?: unknown])[] = [
      ['listProviderApis', `/portal-api/providers/${ProviderID}/apis`],
      ['previewSynchronization', `/portal-api/providers/${ProviderID}/synchronize`],
      ['createProduct', '/portal-api/products', newProduct('another')],
      ['updateProduct', `/portal-api/products/${product.ID}`, { Name: 'renamed' }],
      ['deleteProduct', `/portal-api/products/${product.ID}`],
      ['createPlan', '/portal-api/plans', newPlan('another plan')],
      ['updatePlan', `/portal-api/plans/${plan.ID}`, { RateLimit: 7 }],
      ['deletePlan', `/portal-api/plans/${unused.ID}`],
      ['provisionApp', `${app}/provision`, immediate],
      ['approveAccessRequest', `/portal-api/access_requests/${pending}/approve`],
      ['rotateCredential', `${request}/credentials/${credential.ID}/rotate`],
      [
        'changeAppAccessRequest',
        `${app}/access-requests/${another}/change`,
        { PlanID: unused.ID, ProvisionImmediately: true },
      ],
      ['endCredentialOverlap', `${request}/credentials/${credential.ID}/end-overlap`],
      ['deleteCredential', `${request}/credentials/${credential.ID}`],
      ['deleteAppAccessRequest', request],
      ['deleteAccessRequest', `/portal-api/access_requests/${granted}`],
      ['createCustomCredential', `${app}/custom_credentials`, managed],
      ['deleteCustomCredential', `${app}/custom_credentials/${custom.ID}`],
      ['deleteApp', app],
      ['deletePortalUser', `/portal-api/users/${owned.UserID}`],
      ['deleteProvider', `/portal-api/providers/${ProviderID}`],
    ];
    for (const [mode, expected] of [
      ['refused', problem.provider_refused],
      ['unavailable', problem.provider_unavailable],
    ] as const) {
      relay.failure = mode;
      for (const [name, path, body] of requests)
        await expectProblem(portal, name, expected, path, body === undefined ? {} : { body });
    }
    relay.failure = undefined;
    assert.equal((await ask('DELETE', `/apps/${owned.ID}`)).status, 200);
    assert.equal(await keyStatus(credential.Credential), 404);
  });

  test('the test of a provider names each part that fails, keeps the secret, and changes nothing', async () => {
    const user = {
      ...{ first_name: 'P', last_name: 'Ortal', email_address: 'portal@example.org', active: true },
      user_permissions: { apis: 'write', policies: 'read', keys: 'write', certs: 'write' },
    };
    const { Meta: userId } = await requestPortal(other, 'POST', '/api/users', user);
    const { access_key: limitedKey } = await requestPortal(other, 'PUT', `/api/users/${userId}/actions/key/reset`);
    const check = async (metaData: object) => {
      const MetaData = JSON.stringify({ URL: other.url.dashboard, ...metaData });
      const body = { Name: 'Tested', Type: 'gw-pro', Configuration: { MetaData } };
      const { ID } = await requestPortal(portal, 'POST', '/portal-api/providers', body);
      const { Passed, Checks } = await requestPortal(portal, 'PUT', `/portal-api/providers/${ID}/test`);
      assert.equal((await ask('GET', `/providers/${ID}`)).body.Status, 'Unknown');
      const failed = Checks.filter((it: { Result: string }) => it.Result === 'failed');
      const results = Object.fromEntries(Checks.map((it: Record<string, string>) => [it.Check, it.Result]));
      return { Passed, results, failed, text: JSON.stringify(Checks) };
    };
    const all = await check({ Secret: other.credentials.admin_access_key, Gateway: other.url.gateway });
    assert.deepEqual([all.Passed, all.failed], [true, []], all.text);
    assert.deepEqual(new Set(Object.values(all.results)), new Set(['passed']));

    const limited = await check({ Secret: limitedKey, OrgID: 'elsewhere' });
    assert.equal(limited.Passed, false);
    const names = limited.failed.map((it: { Check: string }) => it.Check);
    assert.deepEqual(names, ['organisation', 'policies'], limited.text);
    assert.match(limited.failed[1].Reason, /^403 /);

    const wrong = await check({ Secret: 'a-secret-that-is-wrong' });
    assert.deepEqual([wrong.results.url, wrong.results.secret, wrong.results.keys], ['passed', 'failed', 'skipped']);
    assert.doesNotMatch(wrong.text, /a-secret-that-is-wrong/);
    const absent = await check({ URL: 'http://127.0.0.1:9', Secret: 's' });
    assert.deepEqual([absent.results.url, absent.results.secret], ['failed', 'skipped']);
    const web = await startUpstream();
    web.answer = ({ url = '' }, response) =>
      response.writeHead(Number(url.split('/')[1])).end('{"message":"internal"}');
    for (const status of [200, 401, 404, 500]) {
      const foreign = await check({ URL: `${web.url}/${status}`, Secret: 's' });
      assert.deepEqual([foreign.failed, foreign.failed[0].Reason], [absent.failed, noDashboard]);
    }
    await web.close();

    await using relay = await startDashboardRelay(() => other.url.dashboard);
    relay.failingMethod = 'DELETE';
    for (const failure of ['unavailable', 'refused'] as const) {
      relay.failure = failure;
      const cut = await check({ URL: relay.url, Secret: other.credentials.admin_access_key });
      const { url, secret, ...rest } = cut.results;
      assert.deepEqual([cut.Passed, url, secret], [false, 'failed', 'passed'], cut.text);
      const permissions = { apis: 'skipped', policies: 'skipped', keys: 'skipped', certificates: 'skipped' };
      assert.deepEqual(rest, { organisation: 'passed', ...permissions, gateway: 'skipped' });
    }
  });

  test('a server that is not a dashboard is reported as unavailable', async () => {
    const Configuration = metaData('x', `${other.url.gateway}/live?`);
    const body = { Name: 'Odd', Type: 'gw-pro', Configuration };
    const { ID } = await requestPortal(portal, 'POST', '/portal-api/providers', body);
    const answer = await ask('PUT', `/providers/${ID}/synchronize`);
    assert.equal(answer.status, 422);
    assert.equal(answer.body.errors[0], 'Failed to sync provider Odd: its response is not that of a dashboard');
    assert.equal((await ask('DELETE', `/providers/${ID}?force=true`)).status, 200);
  });

  test('an untrusted certificate is refused, unless InsecureSkipVerify is set', async () => {
    const { chainPem, keyPem } = makeServerCertificate(makeAuthority());
    const server = createServer({ cert: chainPem, key: keyPem }, (_request, response) =>
      response.end('{"Data":null,"Pages":1}'),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const URL = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const configuration = (InsecureSkipVerify: boolean) => ({
        Configuration: { MetaData: JSON.stringify({ URL, Secret: 'x', InsecureSkipVerify }) },
      });
      const body = { Name: 'Unvouched', Type: 'gw-pro', ...configuration(false) };
      const { ID } = await requestPortal(portal, 'POST', '/portal-api/providers', body);
      const refused = await ask('PUT', `/providers/${ID}/synchronize`);
      assert.equal(refused.status, 422);
      assert.match(refused.body.errors[0], /^Failed to sync provider Unvouched: .*certificate/);
      await requestPortal(portal, 'PUT', `/portal-api/providers/${ID}`, configuration(true));
      assert.equal((await ask('PUT', `/providers/${ID}/synchronize`)).status, 200);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
