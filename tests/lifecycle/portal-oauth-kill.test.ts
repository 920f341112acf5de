import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Child, eventually, scratch, startChild } from '../support/gw-process.ts';
import { type KeycloakProvider, startKeycloakProvider } from '../support/keycloak-provider.ts';
import { testPostgres } from '../support/services/engines.ts';

const { fresh, remove } = scratch('portal-oauth-kill');
after(remove);

for (const engine of ['sqlite', 'postgres'] as const)
  describe(`killed portal with OAuth clients (${engine})`, () => {
    let idp: KeycloakProvider;
    let database: Awaited<ReturnType<typeof testPostgres>> | undefined;
    let child: Child;
    let ids: { plan: number; products: number[]; user: number };
    const directory = fresh();

    async function start(): Promise<void> {
      child = await startChild({ directory, environment: database ? { GW_DATABASE_URL: database.url } : {} });
    }
    const ask = (method: string, path: string, body?: unknown) =>
      child.ask(method, path, body === undefined ? {} : { body });
    async function ok(method: string, path: string, body?: unknown) {
      const answer = await ask(method, path.startsWith('/api/') ? path : `/portal-api${path}`, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.body;
    }

    before(async () => {
      idp = await startKeycloakProvider();
      database = engine === 'postgres' ? await testPostgres() : undefined;
      await start();
      const provider = await ok('POST', '/oauth-providers', {
        ...{ Name: 'Keycloak', Type: 'Keycloak', WellKnownURL: idp.discoverUrl },
        RegistrationAccessToken: idp.initialToken,
      });
      const type = await ok('POST', `/oauth-providers/${provider.ID}/client-types`, {
        ...{ Name: 'Service', GrantType: 'client_credentials', ResponseTypes: 'none' },
      });
      const products: number[] = [];
      for (const name of ['orders', 'invoices']) {
        const proxy = { listen_path: `/${name}/`, target_url: 'http://127.0.0.1:9/' };
        const api_definition = { name, active: true, proxy, enable_jwt: true, jwt_signing_method: 'rsa' };
        const { ID: APIID } = await ok('POST', '/api/apis', { api_definition });
        const more = { DCREnabled: true, Scopes: name, Templates: [type.ID], APIDetails: [{ APIID }] };
        products.push((await ok('POST', '/products', { Name: name, ProviderID: 1, ...more })).ID);
      }
      const plan = await ok('POST', '/plans', { Name: 'gold', ProviderID: 1, JWTScope: 'gold' });
      const user = await ok('POST', '/users', { Email: 'dev@example.org', First: 'D', Last: 'V' });
      ids = { plan: plan.ID, products, user: user.ID };
    });
    after(async () => {
      await child?.stop('SIGKILL');
      await idp?.close();
      await database?.drop();
    });

    const addApp = async (): Promise<number> => (await ok('POST', '/apps', { Name: 'app', UserID: ids.user })).ID;
    const request = async (appId: number, product: number, ProvisionImmediately = false): Promise<number> =>
      (
        await ok('PUT', `/apps/${appId}/provision`, {
          ...{ PlanID: ids.plan, ProductIDs: [ids.products[product]], ProvisionImmediately },
        })
      ).AccessRequestID;
    const read = (id: number) => ok('GET', `/access_requests/${id}`);
    const clientOf = async (id: number): Promise<string | undefined> => (await read(id)).Credentials[0]?.OAuthClientID;
    const scopeOf = (clientId: string) => idp.clients.get(clientId)?.metadata.scope;

    /** Kills the portal during a call to the identity provider that this request makes, and starts it again. */
    async function killDuring(called: string, moment: 'before' | 'after', method: string, path: string): Promise<void> {
      idp.intercept = (at, incoming) => {
        if (at !== moment || incoming.method !== called) return false;
        idp.intercept = undefined;
        child.process.kill('SIGKILL');
        return true;
      };
      await assert.rejects(ask(method, `/portal-api${path}`));
      await child.ended;
      await start();
    }

    for (const moment of ['before', 'after'] as const) {
      test(`an approval killed ${moment} its client was registered leaves a pending request; a retry gives one client`, async () => {
        const id = await request(await addApp(), 0);
        await killDuring('POST', moment, 'PUT', `/access_requests/${id}/approve`);
        await eventually(async () => (await read(id)).Failure !== '', 'the claim is released');
        const { Status, Failure, Credentials } = await read(id);
        assert.deepEqual([Status, Credentials], ['pending', []]);
        assert.match(Failure, /interrupted; an OAuth client without use may be left/);
        await ok('PUT', `/access_requests/${id}/approve`);
        assert.equal(scopeOf((await clientOf(id))!), 'gold orders');
      });

      test(`a revocation killed ${moment} its client was deleted is finished`, async () => {
        const appId = await addApp();
        const id = await request(appId, 0, true);
        const client = (await clientOf(id))!;
        const { Credentials } = await read(id);
        const path = `/apps/${appId}/access-requests/${id}/credentials/${Credentials[0].ID}`;
        await killDuring('DELETE', moment, 'DELETE', path);
        await eventually(async () => !idp.clients.has(client), 'the client is deleted');
        await eventually(async () => (await read(id)).Credentials.length === 0, 'the credential is removed');
      });

      test(`the deletion of a custom credential killed ${moment} its client was deleted is finished`, async () => {
        const path = `/apps/${await addApp()}/custom_credentials`;
        const body = {
          Alias: 'a',
          Type: 'CREDENTIAL_TYPE_GW_MANAGED',
          PlanID: ids.plan,
          ProductIDs: [ids.products[0]],
        };
        const { ID, CredentialKey } = await ok('POST', path, body);
        await killDuring('DELETE', moment, 'DELETE', `${path}/${ID}`);
        await eventually(async () => !idp.clients.has(CredentialKey), 'the client is deleted');
        await eventually(async () => (await ok('GET', path)).length === 0, 'the credential is removed');
      });
    }

    test('an approval killed before a client got more scopes leaves it with those of before', async () => {
      const appId = await addApp();
      const client = (await clientOf(await request(appId, 0, true)))!;
      const id = await request(appId, 1);
      await killDuring('PUT', 'before', 'PUT', `/access_requests/${id}/approve`);
      await eventually(async () => (await read(id)).Failure !== '', 'the claim is released');
      assert.deepEqual([(await read(id)).Status, scopeOf(client)], ['pending', 'gold orders']);
      await ok('PUT', `/access_requests/${id}/approve`);
      assert.equal(scopeOf(client), 'gold invoices orders');
    });
  });
