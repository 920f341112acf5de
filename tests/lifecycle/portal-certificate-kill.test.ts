import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { makeCertificate } from '../support/certificates.ts';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { addApi } from '../support/portal.ts';
import { type ProviderRelay, startProviderRelay } from '../support/provider-relay.ts';
import { testPostgres } from '../support/services/engines.ts';

const { fresh, remove } = scratch('portal-certificate-kill');
after(remove);

/** A call of the provider during which the portal is killed. */
type Call = readonly [method: string, path: string];
const calls: readonly Call[] = [
  ['POST', '/api/certs'],
  ['PUT', '/api/apis'],
  ['POST', '/api/keys'],
];

for (const engine of ['sqlite', 'postgres'] as const)
  describe(`killed portal with client certificates (${engine})`, () => {
    let provider: TestApp;
    let relay: ProviderRelay;
    let database: Awaited<ReturnType<typeof testPostgres>> | undefined;
    let child: Child;
    let APIID: string;
    let ids: { plan: number; product: number; user: number };
    const directory = fresh();

    async function start(): Promise<void> {
      child = await startChild({ directory, environment: database ? { GW_DATABASE_URL: database.url } : {} });
    }
    const ask = (method: string, path: string, body?: unknown) =>
      child.ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
    async function ok(method: string, path: string, body?: unknown) {
      const answer = await ask(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.body;
    }

    before(async () => {
      provider = await startApp('sqlite');
      relay = await startProviderRelay(provider);
      database = engine === 'postgres' ? await testPostgres() : undefined;
      await start();
      const MetaData = JSON.stringify({ URL: relay.url, Secret: provider.credentials.admin_access_key });
      const { ID: ProviderID } = await ok('POST', '/providers', {
        ...{ Name: 'Far', Type: 'gw-pro', Configuration: { MetaData } },
      });
      APIID = await addApi(provider, 'secured', { use_mutual_tls_auth: true });
      const product = await ok('POST', '/products', { Name: 'orders', ProviderID, APIDetails: [{ APIID }] });
      const plan = await ok('POST', '/plans', { Name: 'free', ProviderID });
      const user = await ok('POST', '/users', { Email: 'dev@example.org', First: 'D', Last: 'V' });
      ids = { plan: plan.ID, product: product.ID, user: user.ID };
    });
    after(async () => {
      await child?.stop('SIGKILL');
      relay?.close();
      await provider?.close();
      await database?.drop();
    });

    async function request(ProvisionImmediately: boolean) {
      const app = await ok('POST', '/apps', { Name: 'app', UserID: ids.user });
      const { AccessRequestID: id } = await ok('PUT', `/apps/${app.ID}/provision`, {
        ...{ PlanID: ids.plan, ProductIDs: [ids.product], ProvisionImmediately },
        Certificate: makeCertificate({ cn: `app ${app.ID}` }).certPem,
      });
      return { id: id as number, path: `/apps/${app.ID}/access-requests/${id}` };
    }
    /** Kills the portal during a call that this request makes, and starts it again. */
    async function killDuring([called, url]: Call, moment: 'before' | 'after', method: string, path: string) {
      relay.intercept = (at, incoming) => {
        if (at !== moment || incoming.method !== called || !incoming.url!.startsWith(url)) return false;
        relay.intercept = undefined;
        child.process.kill('SIGKILL');
        return true;
      };
      await assert.rejects(ask(method, path));
      await child.ended;
      await start();
    }
    const countListed = async (): Promise<number> =>
      ((await provider.ask('GET', `/api/apis/${APIID}`)).body.api_definition.client_certificates ?? []).length;
    const countStored = async (): Promise<number> =>
      ((await provider.ask('GET', '/api/certs')).body.certs ?? []).length;
    const countKeys = async (): Promise<number> =>
      (await provider.ask('GET', '/api/keys/detailed?p=-1')).body.keys.length;
    const countAll = async () => [await countListed(), await countStored(), await countKeys()];
    const settles = (count: number) =>
      eventually(async () => String(await countAll()) === String([count, count, count]), `the provider has ${count}`);

    for (const call of calls)
      for (const moment of ['before', 'after'] as const)
        test(`an approval killed ${moment} ${call.join(' ')} is pending and says why; nothing is left at the provider`, async () => {
          const { id, path } = await request(false);
          await killDuring(call, moment, 'PUT', `/access_requests/${id}/approve`);
          await settles(0);
          await eventually(
            async () => (await ok('GET', `/access_requests/${id}`)).Failure !== '',
            'the claim is released',
          );
          assert.equal((await ok('GET', `/access_requests/${id}`)).Status, 'pending');
          await ok('PUT', `/access_requests/${id}/approve`);
          assert.deepEqual(await countAll(), [1, 1, 1]);
          await ok('DELETE', path);
          await settles(0);
        });

    test('a certificate whose detachment was killed is removed from the allow list', async () => {
      const { path } = await request(true);
      const [{ ID, Certificates }] = await ok('GET', `${path}/credentials`);
      const certificate = `${path}/credentials/${ID}/certificates/${Certificates[0].ID}`;
      await killDuring(['PUT', '/api/keys'], 'after', 'DELETE', certificate);
      await eventually(async () => (await ok('GET', `${path}/credentials`))[0].Certificates.length === 0, 'it is done');
      assert.deepEqual(await countAll(), [0, 0, 1]);
      await ok('DELETE', path);
      await settles(0);
    });
  });
