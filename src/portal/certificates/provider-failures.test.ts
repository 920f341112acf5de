import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { ProblemFactory } from '#base/problems.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';
import { makeCertificate } from '../../../tests/support/certificates.ts';
import { addApi, addApp, addPlan, addProduct, requestPortal } from '../../../tests/support/portal.ts';
import { type ProviderRelay, startProviderRelay } from '../../../tests/support/provider-relay.ts';
import { eventually } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';

const aClient = (cn: string) => makeCertificate({ cn });

onEveryEngine('Client certificates with a provider that fails', app => {
  let far: TestApp;
  let relay: ProviderRelay;
  let APIID: string;
  let ids: { plan: number; product: number };
  before(async () => {
    far = await startApp('sqlite');
    relay = await startProviderRelay(far);
    APIID = await addApi(far, 'secured', { use_mutual_tls_auth: true });
    const MetaData = JSON.stringify({ URL: relay.url, Secret: far.credentials.admin_access_key });
    const { ID: ProviderID } = await ask('POST', '/providers', {
      ...{ Name: 'Far', Type: 'gw-pro', Configuration: { MetaData } },
    });
    const product = await addProduct(app(), { ProviderID, APIDetails: [{ APIID }] });
    ids = { product: product.ID, plan: (await addPlan(app(), { ProviderID })).ID };
  });
  after(async () => {
    relay?.close();
    await far?.close();
  });

  const ask = (method: string, path: string, body?: unknown, status?: number) =>
    requestPortal(app(), method, `/portal-api${path}`, body, status);
  const failWith = (status: number, isMatching: (method: string, url: string) => boolean = () => true) => {
    relay.intercept = (_moment, { method, url }, response) => {
      if (!isMatching(method!, url!)) return false;
      response.writeHead(status).end('{"Message":"maintenance until noon"}');
      return true;
    };
  };
  const listed = async (): Promise<string[]> =>
    (await far.ask('GET', `/api/apis/${APIID}`)).body.api_definition.client_certificates ?? [];
  const stored = async (): Promise<string[]> => (await far.ask('GET', '/api/certs')).body.certs ?? [];
  const statesOf = async (path: string): Promise<string[]> =>
    (await ask('GET', `${path}/credentials`))[0].Certificates.map((it: { State: string }) => it.State);
  async function request(more: object = {}) {
    const owner = await addApp(app());
    const body = { PlanID: ids.plan, ProductIDs: [ids.product], Certificate: aClient('first').certPem, ...more };
    const { AccessRequestID: id } = await ask('PUT', `/apps/${owner.ID}/provision`, body);
    return { id: id as number, appId: owner.ID as number, path: `/apps/${owner.ID}/access-requests/${id}` };
  }

  for (const [call, isMatching] of [
    ['storing the certificate', (method, url) => method === 'POST' && url.startsWith('/api/certs')],
    ['the allow list', (method, url) => method === 'PUT' && url.startsWith('/api/apis')],
    ['the key', (method, url) => method === 'POST' && url.startsWith('/api/keys')],
  ] as const satisfies readonly (readonly [string, (method: string, url: string) => boolean])[])
    test(`an approval that fails at ${call} stays pending and says why; nothing of it is left, and a repetition works`, async () => {
      const { id, path } = await request();
      const before = await stored();
      failWith(503, isMatching);
      const { errors } = await ask('PUT', `/access_requests/${id}/approve`, undefined, 422);
      assert.match(errors[0], /Provider Far cannot be reached: 503 maintenance until noon/);
      const pending = await ask('GET', `/access_requests/${id}`);
      assert.deepEqual([pending.Status, pending.Failure], ['pending', errors[0]]);
      relay.intercept = undefined;
      await eventually(async () => assert.deepEqual([await listed(), await stored()], [[], before]));
      await ask('PUT', `/access_requests/${id}/approve`);
      assert.deepEqual([(await listed()).length, await statesOf(path)], [1, ['attached']]);
      await ask('DELETE', path);
      await eventually(async () => assert.deepEqual([await listed(), await stored()], [[], before]));
    });

  test('an attached or detached certificate of a provider that fails is unfinished until the calls are repeated', async () => {
    const { path } = await request({ ProvisionImmediately: true });
    const [credential] = await ask('GET', `${path}/credentials`);
    const certificates = `${path}/credentials/${credential.ID}/certificates`;
    const expectFailure = async (operation: string, expected: ProblemFactory, more: string, body?: unknown) =>
      expectProblem(app(), operation, expected, `/portal-api${certificates}${more}`, body ? { body } : {});
    const attach = (expected: ProblemFactory, cn: string) =>
      expectFailure('attachCredentialCertificate', expected, '', { Certificate: aClient(cn).certPem });
    failWith(503);
    await attach(problem.provider_unavailable, 'second');
    assert.deepEqual(await statesOf(path), ['attached', 'attaching']);
    failWith(400);
    await attach(problem.provider_refused, 'third');
    relay.intercept = undefined;
    await eventually(async () => assert.deepEqual(await statesOf(path), ['attached', 'attached', 'attached']));
    assert.equal((await listed()).length, 3);
    const detach = (expected: ProblemFactory) =>
      expectFailure('detachCredentialCertificate', expected, `/${credential.Certificates[0].ID}`);
    failWith(503);
    await detach(problem.provider_unavailable);
    failWith(400);
    await detach(problem.provider_refused);
    assert.deepEqual(await statesOf(path), ['detaching', 'attached', 'attached']);
    relay.intercept = undefined;
    await eventually(async () => assert.deepEqual(await statesOf(path), ['attached', 'attached']));
    assert.equal((await listed()).length, 2);
    await ask('DELETE', path);
    assert.deepEqual(await listed(), []);
  });
});
