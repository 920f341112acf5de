import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { addApi } from '../support/portal.ts';
import { testPostgres } from '../support/services/engines.ts';

const { fresh, remove } = scratch('portal-kill');
after(remove);

/** One call of the provider during which the portal is killed: before the provider gets it, or before its response. */
interface Kill {
  readonly method: string;
  readonly moment: 'before' | 'after';
}

/** The dashboard of another installation behind a relay that kills the portal during a call. */
async function startRelay(provider: TestApp) {
  const state: { kill?: Kill | undefined; child?: Child } = {};
  const server: Server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    const kill = state.kill?.method === request.method && request.url!.startsWith('/api/keys') ? state.kill : undefined;
    if (kill) state.kill = undefined;
    if (kill?.moment === 'before') return void state.child!.process.kill('SIGKILL');
    const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
    const sent = body.length > 0 ? { body } : {};
    const answer = await fetch(provider.url.dashboard + request.url, { method: request.method!, headers, ...sent });
    const text = await answer.text();
    if (kill) return void state.child!.process.kill('SIGKILL');
    response.writeHead(answer.status).end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { state, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

for (const engine of ['sqlite', 'postgres'] as const)
  describe(`killed portal (${engine})`, () => {
    let provider: TestApp;
    let relay: Awaited<ReturnType<typeof startRelay>>;
    let database: Awaited<ReturnType<typeof testPostgres>> | undefined;
    let child: Child;
    let ids: { provider: number; plan: number; product: number; user: number };
    const directory = fresh();

    async function start(): Promise<void> {
      const environment: Record<string, string> = database ? { GW_DATABASE_URL: database.url } : {};
      child = await startChild({ directory, environment });
      relay.state.child = child;
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
      relay = await startRelay(provider);
      database = engine === 'postgres' ? await testPostgres() : undefined;
      await start();
      const MetaData = JSON.stringify({ URL: relay.url, Secret: provider.credentials.admin_access_key });
      const { ID: ProviderID } = await ok('POST', '/providers', {
        ...{ Name: 'Far', Type: 'gw-pro' },
        Configuration: { MetaData },
      });
      const APIDetails = [{ APIID: await addApi(provider) }];
      const product = await ok('POST', '/products', { Name: 'orders', ProviderID, APIDetails });
      const plan = await ok('POST', '/plans', { Name: 'free', ProviderID, RateLimit: 5, Per: 1 });
      const user = await ok('POST', '/users', { Email: 'dev@example.org', First: 'D', Last: 'V' });
      ids = { provider: ProviderID, plan: plan.ID, product: product.ID, user: user.ID };
    });
    after(async () => {
      await child?.stop('SIGKILL');
      relay?.server.closeAllConnections();
      relay?.server.close();
      await provider?.close();
      await database?.drop();
    });

    async function addAccessRequest(ProvisionImmediately = false) {
      const app = await ok('POST', '/apps', { Name: 'app', UserID: ids.user });
      const body = { PlanID: ids.plan, ProductIDs: [ids.product], ProvisionImmediately };
      const { AccessRequestID: id } = await ok('PUT', `/apps/${app.ID}/provision`, body);
      return { id, appId: app.ID as number };
    }
    const keysOf = async (appId: number): Promise<string[]> => {
      const { keys } = (await provider.ask('GET', '/api/keys/detailed?p=-1')).body;
      const own = keys.filter((it: { data: { tags?: string[] } }) => it.data.tags?.includes(`portal-app-${appId}`));
      return own.map((it: { key_id: string }) => it.key_id);
    };
    const credentialsOf = async (id: number): Promise<string[]> =>
      (await ok('GET', `/access_requests/${id}`)).Credentials.map((it: { Credential: string }) => it.Credential);
    /** Kills the portal during a call that this request makes, and starts it again. */
    async function killDuring(kill: Kill, method: string, path: string, body?: unknown): Promise<void> {
      relay.state.kill = kill;
      await assert.rejects(ask(method, path, body));
      await child.ended;
      await start();
    }
    const settles = (appId: number, id: number) =>
      eventually(async () => {
        const [keys, credentials] = [await keysOf(appId), await credentialsOf(id)];
        return keys.length === credentials.length && keys.every(key => credentials.includes(key));
      }, 'the keys of the provider are those of the credentials');

    for (const moment of ['before', 'after'] as const) {
      test(`a request whose approval was killed ${moment} the key was made is pending and says why; one key results`, async () => {
        const { id, appId } = await addAccessRequest();
        await killDuring({ method: 'POST', moment }, 'PUT', `/access_requests/${id}/approve`);
        await eventually(
          async () => (await ok('GET', `/access_requests/${id}`)).Failure !== '',
          'the claim is released',
        );
        const pending = await ok('GET', `/access_requests/${id}`);
        assert.deepEqual(
          [pending.Status, pending.Failure],
          ['pending', 'The approval was interrupted; no key was issued.'],
        );
        assert.deepEqual(await keysOf(appId), []);
        await ok('PUT', `/access_requests/${id}/approve`);
        assert.equal((await keysOf(appId)).length, 1);
        assert.deepEqual(await keysOf(appId), await credentialsOf(id));
      });

      test(`a credential whose rotation was killed ${moment} the new key was made keeps its key`, async () => {
        const { id, appId } = await addAccessRequest(true);
        const [key] = await credentialsOf(id);
        const { Credentials } = await ok('GET', `/access_requests/${id}`);
        const path = `/apps/${appId}/access-requests/${id}/credentials/${Credentials[0].ID}/rotate`;
        await killDuring({ method: 'POST', moment }, 'PUT', path);
        await settles(appId, id);
        assert.deepEqual(await credentialsOf(id), [key]);
      });

      test(`a rotation killed ${moment} the old key was removed is finished`, async () => {
        const { id, appId } = await addAccessRequest(true);
        const [key] = await credentialsOf(id);
        const { Credentials } = await ok('GET', `/access_requests/${id}`);
        const path = `/apps/${appId}/access-requests/${id}/credentials/${Credentials[0].ID}/rotate`;
        await killDuring({ method: 'DELETE', moment }, 'PUT', path);
        await settles(appId, id);
        const credentials = await credentialsOf(id);
        assert.equal(credentials.length, 1);
        assert.ok(!credentials.includes(key!));
      });

      test(`a revocation killed ${moment} the key was removed is finished`, async () => {
        const { id, appId } = await addAccessRequest(true);
        const { Credentials } = await ok('GET', `/access_requests/${id}`);
        const path = `/apps/${appId}/access-requests/${id}/credentials/${Credentials[0].ID}`;
        await killDuring({ method: 'DELETE', moment }, 'DELETE', path);
        await settles(appId, id);
        await eventually(async () => (await credentialsOf(id)).length === 0, 'the credential is removed');
        assert.deepEqual(await keysOf(appId), []);
        assert.equal((await ok('GET', `/access_requests/${id}`)).Status, 'approved');
      });

      test(`a plan change killed ${moment} the key was changed is finished, with the same key`, async () => {
        const { id, appId } = await addAccessRequest(true);
        const keys = await credentialsOf(id);
        const gold = await ok('POST', '/plans', {
          Name: `gold-${moment}`,
          ProviderID: ids.provider,
          RateLimit: 7,
          Per: 1,
        });
        const body = { PlanID: gold.ID, ProvisionImmediately: true };
        await killDuring({ method: 'PUT', moment }, 'PUT', `/apps/${appId}/access-requests/${id}/change`, body);
        await eventually(
          async () => (await ok('GET', `/access_requests/${id}`)).Plan === gold.Name,
          'the plan changes',
        );
        assert.deepEqual([await credentialsOf(id), await keysOf(appId)], [keys, keys]);
        const { data } = (await provider.ask('GET', `/api/keys/${encodeURIComponent(keys[0]!)}`)).body;
        assert.ok(data.apply_policies.includes(gold.ReferenceID));
      });
    }

    test('an overlap that was killed before the old key got its expiry is finished', async () => {
      const { id, appId } = await addAccessRequest(true);
      const { Credentials } = await ok('GET', `/access_requests/${id}`);
      const path = `/apps/${appId}/access-requests/${id}/credentials/${Credentials[0].ID}`;
      await killDuring({ method: 'PUT', moment: 'before' }, 'PUT', `${path}/rotate?overlap_seconds=3600`);
      await eventually(async () => {
        const old = await provider.ask('GET', `/api/keys/${encodeURIComponent(Credentials[0].Credential)}`);
        return old.body.data?.expires > 0;
      }, 'the old key has its expiry');
      assert.equal((await keysOf(appId)).length, 2);
      await ok('PUT', `${path}/end-overlap`);
      assert.deepEqual(await keysOf(appId), await credentialsOf(id));
    });

    test('an immediate approval that was killed leaves a pending request and no key', async () => {
      const app = await ok('POST', '/apps', { Name: 'app', UserID: ids.user });
      relay.state.kill = { method: 'POST', moment: 'after' };
      const body = { PlanID: ids.plan, ProductIDs: [ids.product], ProvisionImmediately: true };
      await assert.rejects(ask('PUT', `/apps/${app.ID}/provision`, body));
      await child.ended;
      await start();
      const read = async () => (await ok('GET', `/apps/${app.ID}/access-requests`))[0];
      await eventually(async () => (await read()).Failure !== '', 'the claim is released');
      assert.deepEqual([(await read()).Status, await keysOf(app.ID)], ['pending', []]);
    });
  });
