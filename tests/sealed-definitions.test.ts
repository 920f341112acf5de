import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sql } from 'kysely';
import { createSecretText } from '#base/ids.ts';
import { migrations } from '#storage/migrations/list.ts';
import { openRecords, type Records } from '#storage/records.ts';
import type { Application } from '../src/application.ts';
import { engines, onEveryEngine, rememberSecrets } from './support/app.ts';
import { type TestProcess, testInstallation } from './support/installation.ts';
import { testPostgres } from './support/services/engines.ts';
import { mint } from './support/tokens.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Secrets inside definitions rest in the database as ciphertext. */

const createPlantedText = (what: string) => `planted-${what}-${createSecretText()}`;
const databaseText = async ({ engine, db }: Records, file: string): Promise<string> => {
  if (engine === 'postgres')
    return JSON.stringify((await sql`select apis::text, meta::text from apis, meta`.execute(db)).rows);
  const files = [file, `${file}-wal`].filter(existsSync);
  return files.map(path => readFileSync(path, 'latin1')).join('');
};

let upstream: Upstream;
before(async () => {
  upstream = await startUpstream();
});
after(() => upstream.close());

const readForwardedCredential = () => upstream.requests.at(-1)!.headers.authorization;
const basic = (password: string) => `Basic ${Buffer.from(`ann:${password}`).toString('base64')}`;
const withPassword = (password: string) =>
  openApi(upstream, { upstream_auth: { enabled: true, basic_auth: { enabled: true, username: 'ann', password } } });

onEveryEngine('Encryption of secrets in definitions at rest', app => {
  const text = () => databaseText(app().application.installation.records, join(app().directory, 'gw.db'));

  test('a secret is in no file or table in plain text, reaches the upstream, and is returned to users who may write', async () => {
    const secrets = {
      password: createPlantedText('password'),
      next: createPlantedText('next'),
      hook: createPlantedText('hook'),
    };
    rememberSecrets(secrets);
    const api = withPassword(secrets.password);
    const hook_references = [
      { event_name: 'AuthFailure', hook: { target_path: upstream.url, header_map: { 'x-hook': secrets.hook } } },
    ];
    const made = await app().ask('POST', '/api/apis', { body: { api_definition: api, hook_references } });
    assert.equal(made.status, 200, made.text);
    await waitUntilApplied(app());
    await fetch(app().url.gateway + api.proxy.listen_path);
    assert.equal(readForwardedCredential(), basic(secrets.password));
    const read = (await app().ask('GET', `/api/apis/${api.api_id}`)).body;
    assert.equal(read.api_definition.upstream_auth.basic_auth.password, secrets.password);
    assert.deepEqual(read.hook_references, hook_references);

    read.api_definition.upstream_auth.basic_auth.password = secrets.next;
    const put = await app().ask('PUT', `/api/apis/${api.api_id}`, { body: read });
    assert.equal(put.status, 200, put.text);
    await waitUntilApplied(app());
    await fetch(app().url.gateway + api.proxy.listen_path);
    assert.equal(readForwardedCredential(), basic(secrets.next));
    const kept = await text();
    assert.ok(kept.includes(api.api_id));
    for (const [name, secret] of Object.entries(secrets)) assert.ok(!kept.includes(secret), name);
  });

  test('an API with tampered ciphertext is not served, and other APIs are', async () => {
    const damaged = withPassword(createPlantedText('damaged'));
    const url = await publish(app(), damaged);
    const whole = await publish(app(), withPassword(createPlantedText('whole')));
    const { records } = app().application.installation;
    await records.write(async () => {
      const query = records.db.selectFrom('apis').select(['id', 'body']).where('api_id', '=', damaged.api_id);
      const { id, body } = await query.executeTakeFirstOrThrow();
      const changed = JSON.stringify({ ...JSON.parse(body), sealed: 'v1.AAAA' });
      await records.db.updateTable('apis').set({ body: changed }).where('id', '=', id).execute();
      records.markChanged('apis', '');
    });
    await waitUntilApplied(app());
    assert.match(await findUnavailableReason(app(), url), /^A stored secret \(api secrets\/\w+\) cannot be decrypted/);
    assert.equal((await fetch(whole)).status, 200);
    assert.equal((await app().ask('GET', `/api/apis/${damaged.api_id}`)).status, 500);
  });
});

for (const engine of engines)
  describe(`Database of an earlier release (${engine})`, () => {
    const closing: (() => unknown)[] = [];
    after(async () => {
      for (const close of closing.reverse()) await close();
    });

    async function place() {
      const directory = mkdtempSync(join(tmpdir(), 'gw-sealed-'));
      closing.push(() => rmSync(directory, { recursive: true, force: true }));
      const database = engine === 'postgres' ? await testPostgres() : undefined;
      if (database) closing.push(() => database.drop());
      const file = join(directory, 'gw.db');
      const address = database ? { 'database.url': database.url } : {};
      const lines: string[] = [];
      const given = { data_dir: directory, ...address };
      const installation = await testInstallation('sqlite', given, line => lines.push(line));
      closing.push(installation.close);
      const findSealingLines = () => lines.filter(line => line.includes('secrets inside definitions sealed'));
      return {
        file,
        start: installation.start,
        records: database ? { url: database.url } : { file },
        logged: findSealingLines,
      };
    }

    /** The rows as they were written before secrets were sealed, freed pages with older versions of them included. */
    async function writePlain({ services, records }: Application['installation'], older: string): Promise<void> {
      for (const api of await services.apis.all()) {
        const update = (body: string) =>
          records.db.updateTable('apis').set({ body }).where('id', '=', api.id).execute();
        await update(JSON.stringify({ ...api, older: `${older} `.repeat(500) }));
        await update(JSON.stringify(api));
      }
      // Tables of later migrations.
      for (const table of [
        'assets',
        'sessions',
        'sign_in_tokens',
        'user_factors',
        'user_groups',
        'identity_profiles',
        'usage_latencies',
        'usage_tags',
        'user_preferences',
        'search_names',
        'notification_marks',
        'nodes',
        'daily_statistics',
        'account_links',
        'idempotent_responses',
        'revisions',
        'api_versions',
        'api_labels',
        'portal_audiences',
        'portal_attribute_models',
        'portal_attributes',
        'portal_attribute_values',
        'portal_pages',
        'portal_blocks',
        'portal_custom_credentials',
        'portal_files',
        'portal_product_tags',
        'portal_post_tags',
        'portal_product_docs',
        'portal_product_client_types',
        'portal_client_types',
        'portal_oauth_providers',
        'portal_themes',
        'portal_mails',
        'portal_mail_templates',
        'portal_provider_tasks',
        'portal_organisation_requests',
        'portal_invitations',
        'portal_invite_codes',
        'portal_terms',
        'portal_terms_acceptances',
        'portal_menus',
        'portal_post_categories',
        'portal_notifications',
        'portal_notification_choices',
        'portal_changelog',
        'portal_expiry_notices',
        'portal_product_subscribers',
        'portal_product_words',
        'portal_oauth_clients',
        'portal_certificates',
        'portal_provider_certificates',
        'portal_organisation_certificates',
        'portal_search_entries',
        'portal_search_sources',
        'portal_search_words',
        'portal_changelog_proposals',
      ])
        await records.db.schema.dropTable(table).execute();
      for (const index of [
        'users_address',
        'users_group',
        'apis_active',
        'keys_expiry',
        'usage_mcp',
        'oauth_clients_policy',
        'portal_products_offer',
        'portal_posts_published',
      ])
        await records.db.schema.dropIndex(index).execute();
      for (const column of ['expires_at', 'inactive'])
        await records.db.schema.alterTable('keys').dropColumn(column).execute();
      for (const column of ['hidden', 'featured'])
        await records.db.schema.alterTable('portal_products').dropColumn(column).execute();
      await records.db.schema.alterTable('portal_posts').dropColumn('published_at').execute();
      await records.db.schema.alterTable('apis').dropColumn('active').execute();
      await records.db.schema.alterTable('users').dropColumn('group_id').execute();
      await records.db.schema.alterTable('logs').dropColumn('tags').execute();
      await records.db.schema.alterTable('uptime_hours').dropColumn('tags').execute();
      await records.db.schema.alterTable('uptime_hours').dropColumn('checks').execute();
      await records.db.schema.alterTable('oauth_clients').dropColumn('policy_id').execute();
      const mcpColumns = ['mcp_method', 'mcp_primitive_type', 'mcp_primitive_name'];
      for (const column of ['method', 'country', 'user_agent', ...mcpColumns, 'tag_set'])
        await records.db.schema.alterTable('usage').dropColumn(column).execute();
      await services.meta.set('schema_version', String(migrations.findIndex(it => it.name === 'sealed-definitions')));
    }

    const serves = async ({ gateway }: TestProcess, password: string, path: string) => {
      const { status } = await fetch(gateway + path);
      assert.deepEqual([status, readForwardedCredential()], [200, basic(password)]);
    };

    test('the next start encrypts its secrets, and serves and returns the same definitions', async () => {
      const { file, start, records, logged } = await place();
      const secrets = {
        password: createPlantedText('password'),
        signing: createPlantedText('signing'),
        older: createPlantedText('older'),
      };
      rememberSecrets(secrets);
      const first = await start();
      const api = withPassword(secrets.password);
      const tokens = openApi(upstream, {
        use_keyless: false,
        enable_jwt: true,
        jwt_signing_method: 'hmac',
        jwt_source: Buffer.from(secrets.signing).toString('base64'),
        jwt_identity_base_field: 'sub',
        jwt_default_policies: ['some'],
      });
      for (const it of [api, tokens, openApi(upstream)]) await first.write('POST', '/api/apis', { api_definition: it });
      const rights = { [tokens.api_id]: { versions: ['Default'] } };
      const policy = { name: 'some', id: 'some', active: true, state: 'active', access_rights: rights };
      await first.write('POST', '/api/portal/policies', policy);
      await writePlain(first.application.installation, secrets.older);
      await first.stop();
      const raw = [secrets.password, Buffer.from(secrets.signing).toString('base64')];
      const look = async () => {
        const opened = await openRecords(records);
        try {
          return await databaseText(opened, file);
        } finally {
          await opened.close();
        }
      };
      const old = await look();
      for (const secret of raw) assert.ok(old.includes(secret), 'the test has written plain rows');
      if (engine === 'sqlite') assert.ok(old.includes(secrets.older), 'and freed pages');

      const second = await start();
      assert.equal(logged().length, 1);
      assert.match(logged()[0]!, /"apis":2/);
      const text = await databaseText(second.application.installation.records, file);
      for (const secret of [...raw, secrets.older]) assert.ok(!text.includes(secret));
      assert.equal(await second.application.installation.services.meta.get('apis.plain_secrets'), undefined);
      await serves(second, secrets.password, api.proxy.listen_path);
      const authorization = `Bearer ${mint({ sub: 'ann' }, secrets.signing, { alg: 'HS256' })}`;
      const call = await fetch(second.gateway + tokens.proxy.listen_path, { headers: { authorization } });
      assert.equal(call.status, 200, await call.text());
      const shown = await second.write('GET', `/api/apis/${api.api_id}`);
      assert.equal(shown.api_definition.upstream_auth.basic_auth.password, secrets.password);
      await second.stop();
      await (await start()).stop();
      assert.equal(logged().length, 1, 'it is done once');
    });

    if (engine === 'postgres')
      test('processes that start concurrently encrypt it once', async () => {
        const { start, logged } = await place();
        const password = createPlantedText('together');
        const first = await start();
        const apis = Array.from({ length: 30 }, () => withPassword(password));
        for (const it of apis) await first.write('POST', '/api/apis', { api_definition: it });
        await writePlain(first.application.installation, 'older');
        await first.stop();
        const root = mkdtempSync(join(tmpdir(), 'gw-sealed-'));
        closing.push(() => rmSync(root, { recursive: true, force: true }));
        const all = await Promise.all(['a', 'b', 'c'].map(name => start(name, { data_dir: join(root, name) })));
        assert.equal(logged().length, 1);
        for (const process of all)
          for (const { proxy } of [apis[0]!, apis.at(-1)!]) await serves(process, password, proxy.listen_path);
        assert.ok(!(await databaseText(all[0]!.application.installation.records, '')).includes(password));
      });
  });
