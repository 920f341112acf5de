import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { createDataKey, createVault } from '#base/vault.ts';
import { onEveryEngine, type TestApp } from './support/app.ts';
import { addApi, requestPortal } from './support/portal.ts';
import { openApi } from './support/traffic.ts';

type SealedTable = 'apis' | 'hooks' | 'keys' | 'oauth_clients' | 'portal_sso_profiles' | 'portal_webhooks' | 'users';

const otherVault = createVault(createDataKey());
const sealedText = /v1\.[\w-]{38,}/g;

/** Puts secrets sealed with another data key into the rows of a table whose body holds a text. */
async function resealRows(app: TestApp, table: SealedTable, text: string): Promise<void> {
  const { db } = app.application.installation.records;
  const reseal = (value: string) => value.replaceAll(sealedText, () => otherVault.seal('secret', 'another'));
  let resealed = 0;
  for (const { id, body } of await db.selectFrom(table).select(['id', 'body']).execute()) {
    if (!body.includes(text)) continue;
    await db
      .updateTable(table)
      .set({ body: reseal(body) })
      .where('id', '=', id as never)
      .execute();
    if (table === 'keys')
      await db
        .updateTable('keys')
        .set({ sealed: otherVault.seal('secret', 'another') })
        .where('id', '=', id as string)
        .execute();
    resealed++;
  }
  assert.equal(resealed, 1, table);
}

interface Noun {
  readonly table: SealedTable;
  /** Creates one that holds the text, and gives the path it is read at and the id that a warning names. */
  create(app: TestApp, text: string): Promise<{ readonly path: string; readonly id: string }>;
  list(app: TestApp): Promise<string> | string;
}

const password = (text: string) => ({
  upstream_auth: { enabled: true, basic_auth: { enabled: true, username: text, password: 'secret' } },
});
const upstream = { url: 'http://127.0.0.1:9/' };
let oauthPath = '';

async function createKey(app: TestApp, alias: string) {
  const api = await addApi(app);
  const access_rights = { [api]: { api_id: api, api_name: '', versions: ['Default'] } };
  return requestPortal(app, 'POST', '/api/keys', { alias, access_rights, jwt_data: { secret: 'a-secret-of-a-key' } });
}

const nouns: Readonly<Record<string, Noun>> = {
  APIs: {
    table: 'apis',
    async create(app, text) {
      const body = { api_definition: openApi(upstream, { name: text, ...password(text) }) };
      const { Meta } = await requestPortal(app, 'POST', '/api/apis', body);
      return { path: `/api/apis/${Meta}`, id: Meta };
    },
    list: () => '/api/apis?p=-1',
  },
  webhooks: {
    table: 'hooks',
    async create(app, text) {
      const hook = { name: text, method: 'POST', target_path: 'http://127.0.0.1:9/', header_map: { 'X-A': 'secret' } };
      const { ID } = await requestPortal(app, 'POST', '/api/hooks', hook);
      return { path: `/api/hooks/${ID}`, id: ID };
    },
    list: () => '/api/hooks?p=-1',
  },
  users: {
    table: 'users',
    async create(app, text) {
      const { Meta } = await requestPortal(app, 'POST', '/admin/users', {
        org_id: app.credentials.organisation_id,
        email_address: `${text}@example.org`,
        first_name: text,
        last_name: 'B',
        active: true,
        user_permissions: { apis: 'read' },
      });
      return { path: `/api/users/${Meta.id}`, id: Meta.id };
    },
    list: () => '/api/users?p=-1',
  },
  keys: {
    table: 'keys',
    async create(app, text) {
      const { key_id, key_hash } = await createKey(app, text);
      return { path: `/api/keys/${key_id}`, id: key_hash };
    },
    list: () => '/api/keys/detailed?p=-1',
  },
  'OAuth clients': {
    table: 'oauth_clients',
    async create(app, text) {
      if (oauthPath === '') {
        const definition = openApi(upstream, { use_keyless: false, use_oauth2: true });
        oauthPath = `/api/apis/oauth/${(await requestPortal(app, 'POST', '/api/apis', { api_definition: definition })).ID}`;
      }
      const client = { client_id: text, redirect_uri: 'https://client.example/', secret: 'a-secret-of-a-client' };
      const { client_id } = await requestPortal(app, 'POST', oauthPath, client);
      return { path: `${oauthPath}/${client_id}`, id: client_id };
    },
    list: () => `${oauthPath}?p=-1`,
  },
  'portal webhooks': {
    table: 'portal_webhooks',
    async create(app, text) {
      const hook = { Name: text, URL: 'http://127.0.0.1:9/', Method: 'POST', Events: ['UserRegistered'] };
      const { ID } = await requestPortal(app, 'POST', '/portal-api/webhooks', hook, 201);
      return { path: `/portal-api/webhooks/${ID}`, id: ID };
    },
    list: () => '/portal-api/webhooks',
  },
};

const lines: string[] = [];

onEveryEngine(
  'rows whose secret was sealed with another key',
  app => {
    for (const [name, { table, create, list }] of Object.entries(nouns)) {
      test(`a list of ${name} leaves such a row out and names it; read alone it is a clear error`, async () => {
        oauthPath = name === 'OAuth clients' ? '' : oauthPath;
        const [bad, good] = [`bad-${createPublicId()}`, `good-${createPublicId()}`];
        const unreadable = await create(app(), bad);
        await create(app(), good);
        await resealRows(app(), table, bad);
        lines.length = 0;
        const { status, text, body, headers } = await app().ask('GET', await list(app()));
        assert.equal(status, 200, text);
        assert.ok(text.includes(good), text);
        const warned = (Array.isArray(body) ? headers.get('x-gw-warnings') : body.warnings?.join('\n')) ?? '';
        assert.match(warned, new RegExp(`${unreadable.id} is left out: A stored secret \\(.*\\) cannot be decrypted`));
        assert.ok(!text.replace(warned, '').includes(bad) || name === 'OAuth clients', 'the rest is not shown');
        const logged = lines.find(line => line.includes('stored rows unreadable, left out of a list'));
        assert.ok(logged?.includes(unreadable.id), logged ?? 'no such line');
        const alone = await app().ask('GET', unreadable.path);
        assert.equal(alone.status, 500);
        assert.match(
          alone.text,
          /A stored secret \(.*\) cannot be decrypted: it was changed, or encrypted with another key/,
        );
      });
    }

    test('a search for keys passes over a key whose id cannot be read', async () => {
      const { key_id } = await createKey(app(), createPublicId());
      const { status, body, text } = await app().ask('GET', `/api/keys/detailed?q=${key_id.slice(-8)}&p=-1`);
      assert.equal(status, 200, text);
      assert.deepEqual(
        body.keys.map((key: { key_id: string }) => key.key_id),
        [key_id],
      );
    });
  },
  { onLog: line => void lines.push(line) },
);
