import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { migrate } from '#storage/migrate.ts';
import { migrations } from '#storage/migrations/list.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { addPerson } from '../../../tests/support/browser.ts';
import { makeAuthority } from '../../../tests/support/certificates.ts';
import { searchableKinds } from './kinds.ts';

interface Item {
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

onEveryEngine('Search', app => {
  const ok = async (method: string, path: string, body?: unknown, credential?: string) => {
    const asked = { ...(body === undefined ? {} : { body }), ...(credential ? { credential } : {}) };
    const answer = await app().ask(method, path, asked);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  const search = (q: string, { kinds = '', credential }: { kinds?: string; credential?: string } = {}) =>
    ok('GET', `/api/search?q=${encodeURIComponent(q)}${kinds && `&kinds=${kinds}`}`, undefined, credential);
  /** Kind to the ids of its matches. */
  const find = async (q: string, asked: Parameters<typeof search>[1] = {}): Promise<Record<string, string[]>> => {
    const { results } = await search(q, asked);
    return Object.fromEntries(
      results.map(({ kind, items }: { kind: string; items: Item[] }) => [kind, items.map(({ id }) => id)]),
    );
  };
  const definition = (name: string, listen_path = `/s${createPublicId()}/`) => ({
    name,
    use_keyless: false,
    use_standard_auth: true,
    proxy: { listen_path, target_url: 'http://127.0.0.1:1/' },
    version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  });
  const makeApi = async (name: string, credential?: string) =>
    (await ok('POST', '/api/apis', { api_definition: definition(name) }, credential)).ID as string;
  const rightsTo = (...apiIds: string[]) => ({
    access_rights: Object.fromEntries(apiIds.map(id => [id, { api_id: id, versions: ['Default'] }])),
  });

  /** One object of every kind with this word in its name; kind to id. */
  async function createAll(word: string, credential?: string): Promise<Record<string, string>> {
    const apis = await makeApi(`API ${word}`, credential);
    const policy = { name: `Policy ${word}`, ...rightsTo(apis) };
    const key = { alias: `Key ${word}`, ...rightsTo(apis) };
    const hook = { method: 'POST', target_path: 'http://127.0.0.1:1/', name: `Hook ${word}` };
    const permissions = { user_permissions: { apis: 'read' } };
    const person = { first_name: 'Per', last_name: word, active: true, ...permissions };
    const email_address = `${createPublicId()}@example.org`;
    const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
    const UseProviders = [{ Name: 'openid-connect', Key: 'client', Secret: 'planted', DiscoverURL }];
    const profile = { Name: `Profile ${word}`, ProviderName: 'SocialProvider', ProviderConfig: { UseProviders } };
    const make = (path: string, body: unknown) => ok('POST', path, body, credential);
    const proxy = {
      openapi: '3.0.3',
      info: { title: `Proxy ${word}`, version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: `Proxy ${word}`, state: { active: true } },
        upstream: { url: 'http://127.0.0.1:1/mcp' },
        server: { listenPath: { value: `/mcp-${createPublicId()}/`, strip: true } },
      },
    };
    return {
      apis,
      mcps: (await make('/api/mcps', proxy)).ID,
      policies: (await make('/api/portal/policies', policy)).Message,
      keys: (await make('/api/keys', key)).key_hash,
      oauth_clients: (await make(`/api/apis/oauth/${apis}`, { client_name: `Client ${word}` })).client_id,
      certificates: (await make('/api/certs', makeAuthority(`Certificate ${word}`).certPem)).id,
      webhooks: (await make('/api/hooks', hook)).ID,
      users: (await make('/api/users', { ...person, email_address })).Meta,
      user_groups: (await make('/api/usergroups', { name: `Group ${word}`, ...permissions })).Meta,
      templates: (await make('/api/assets', { name: `Template ${word}`, data: { tags: [] } })).Meta,
      identity_profiles: (await make('/api/sso/profiles', profile)).Meta,
    };
  }

  test('objects of every kind are found by a part of their name in either case, in their organisation only', async () => {
    const word = `Übung%_${createPublicId()}`;
    const { accessKey } = await app().stranger();
    const [ids, foreign] = [await createAll(word), await createAll(word, accessKey)];
    assert.deepEqual(Object.keys(ids), Object.keys(searchableKinds));
    const expected = Object.fromEntries(Object.entries(ids).map(([kind, id]) => [kind, [id]]));
    for (const q of [word, word.toUpperCase(), word.slice(2).toLowerCase()])
      assert.deepEqual(await find(q), expected, q);
    const elsewhere = Object.fromEntries(Object.entries(foreign).map(([kind, id]) => [kind, [id]]));
    assert.deepEqual(await find(word, { credential: accessKey }), elsewhere);
    assert.deepEqual(await find(word.replace('%', 'x')), {});
    assert.deepEqual(await find(word, { kinds: 'keys, users' }), { keys: [ids.keys], users: [ids.users] });
  });

  test('a renamed object is found by its new name only, a deleted one not at all', async () => {
    const [before, after] = [`before${createPublicId()}`, `after${createPublicId()}`];
    const ids = await createAll(before);
    const api = (await ok('GET', `/api/apis/${ids.apis}`)).api_definition;
    await ok('PUT', `/api/apis/${ids.apis}`, { api_definition: { ...api, name: `A ${after}` } });
    const paths: Readonly<Record<string, string>> = {
      mcps: `/api/mcps/${ids.mcps}`,
      policies: `/api/portal/policies/${ids.policies}`,
      webhooks: `/api/hooks/${ids.webhooks}`,
      users: `/api/users/${ids.users}`,
      user_groups: `/api/usergroups/${ids.user_groups}`,
      templates: `/api/assets/${ids.templates}`,
      identity_profiles: `/api/sso/profiles/${ids.identity_profiles}`,
    };
    for (const path of Object.values(paths)) {
      const text = JSON.stringify(await ok('GET', path)).replaceAll(before, after);
      await ok('PUT', path, JSON.parse(text));
    }
    const { data: key } = await ok('GET', `/api/keys/${ids.keys}?hashed=1`);
    await ok('PUT', `/api/keys/${ids.keys}?hashed=1`, { ...key, alias: `K ${after}` });
    assert.deepEqual(Object.keys(await find(before)), ['oauth_clients', 'certificates']);
    const found = await find(after);
    assert.deepEqual(
      { ...found, certificates: [ids.certificates], oauth_clients: [ids.oauth_clients] },
      Object.fromEntries(Object.entries(ids).map(([kind, id]) => [kind, [id]])),
    );
    for (const path of Object.values(paths)) await ok('DELETE', path);
    await ok('DELETE', `/api/keys/${ids.keys}?hashed=1`);
    await ok('DELETE', `/api/apis/${ids.apis}`);
    await ok('DELETE', `/api/certs/${ids.certificates}`);
    assert.deepEqual([await find(before), await find(after)], [{}, {}]);
    const { db } = app().application.installation.records;
    const left = await db.selectFrom('search_names').select('text').where('object', 'in', Object.values(ids)).execute();
    assert.deepEqual(left, []);
  });

  test('keys are found by alias, user name, hash and whole id, and no result holds the id', async () => {
    const apiId = await makeApi(`K ${createPublicId()}`);
    const { key_id, key_hash } = await ok('POST', '/api/keys', { alias: 'Partner Ä', ...rightsTo(apiId) });
    for (const q of ['partner ä', key_hash, key_hash.slice(1, -1), key_id]) {
      const { results } = await search(q, { kinds: 'keys' });
      assert.ok(
        results[0].items.some(({ id, name }: Item) => id === key_hash && name === 'Partner Ä'),
        q,
      );
      if (q !== key_id) assert.ok(!JSON.stringify(results).includes(key_id));
    }
    const byBody = await ok('POST', '/api/search', { q: ` ${key_id} `, kinds: ['keys', 'apis'] });
    assert.deepEqual(byBody, await search(key_id, { kinds: 'keys,apis' }));
    const { audit_logs } = await ok('GET', '/api/audit-logs?action=searchWithBody');
    assert.ok(audit_logs.length > 0 && !JSON.stringify(audit_logs).includes(key_id), 'no key in the audit');
    const name = `User.${createPublicId()}`;
    const basic = { ...rightsTo(apiId), basic_auth_data: { password: 'a long password' } };
    await ok('POST', `/api/apis/keys/basic/${name}`, basic);
    const { results } = await search(name.toUpperCase());
    assert.deepEqual([results[0].kind, results[0].items[0].name], ['keys', name]);
  });

  test('APIs and policies are found by their ids, users by e-mail address, certificates by name and fingerprint', async () => {
    const word = createPublicId();
    const ids = await createAll(word);
    const { Meta: databaseId } = await ok('POST', '/api/apis', { api_definition: definition(`Other ${word}`) });
    assert.equal((await find(ids.apis!)).apis?.[0], ids.apis);
    assert.equal((await find(databaseId)).apis?.length, 1);
    assert.deepEqual((await find(ids.policies!.slice(2))).policies, [ids.policies]);
    const { email_address } = await ok('GET', `/api/users/${ids.users}`);
    assert.deepEqual((await find(email_address)).users, [ids.users]);
    assert.deepEqual((await find(`per ${word}`)).users, [ids.users]);
    assert.deepEqual((await find(ids.certificates!.slice(-20))).certificates, [ids.certificates]);
  });

  test('each kind needs its own permission, and the others are named', async () => {
    const word = createPublicId();
    const ids = await createAll(word);
    for (const [kind, { permission }] of Object.entries(searchableKinds)) {
      const [name = '', level = ''] = permission.split(':');
      const { accessKey: credential } = await addPerson(app(), { user_permissions: { [name]: level } });
      const { results, not_permitted } = await search(word, { credential });
      assert.deepEqual([results.length, results[0].kind, results[0].items[0].id], [1, kind, ids[kind]]);
      assert.deepEqual(
        not_permitted,
        Object.keys(searchableKinds).filter(it => it !== kind),
      );
    }
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { portal: 'read' } });
    assert.deepEqual(await search(word, { kinds: 'keys', credential }), { results: [], not_permitted: ['keys'] });
  });

  test('an API of other owners is never found, nor keys and policies that grant it alone', async () => {
    const word = createPublicId();
    const [hidden, open] = [await makeApi(`Hidden ${word}`), await makeApi(`Open ${word}`)];
    const owner = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const permissions = { apis: 'read', keys: 'read', policies: 'read' };
    const { accessKey: credential } = await addPerson(app(), { user_permissions: permissions });
    const makePolicy = async (name: string, ...apiIds: string[]) =>
      (await ok('POST', '/api/portal/policies', { name: `${name} ${word}`, ...rightsTo(...apiIds) })).Message as string;
    const makeKey = async (alias: string, body: object) =>
      (await ok('POST', '/api/keys', { alias: `${alias} ${word}`, ...body })).key_hash as string;
    const [closedPolicy, mixedPolicy] = [await makePolicy('Closed', hidden), await makePolicy('Mixed', hidden, open)];
    await makeKey('closed', rightsTo(hidden));
    await makeKey('closed through a policy', { apply_policies: [closedPolicy] });
    const visible = [
      await makeKey('a mixed', rightsTo(hidden, open)),
      await makeKey('b through a policy', { apply_policies: [mixedPolicy] }),
      await makeKey('c without rights', { apply_policies: [await makePolicy('Open', open)] }),
    ];
    assert.equal((await find(word)).keys?.length, 5);
    await ok('PUT', `/api/apis/${hidden}/access`, { userIds: [owner.id], userGroupIds: [] });
    const found = await find(word, { credential });
    assert.deepEqual([found.apis, found.keys], [[open], visible]);
    assert.deepEqual(found.policies?.length, 2);
    assert.ok(!found.policies?.includes(closedPolicy));
    assert.deepEqual(await find(hidden, { credential, kinds: 'apis' }), {});
    assert.deepEqual((await find(hidden, { credential: owner.accessKey })).apis, [hidden]);
  });

  test('an API is found among any number of hidden ones with the same word', async () => {
    const word = createPublicId();
    const { db } = app().application.installation.records;
    const last = await makeApi(`z ${word}`);
    const row = await db.selectFrom('apis').selectAll().where('api_id', '=', last).executeTakeFirstOrThrow();
    const rows = Array.from({ length: 1100 }, (_each, count) => {
      const name = `hidden ${count} ${word}`;
      return { ...row, id: `${word}.${count}`, api_id: `${word}-${count}`, name, name_fold: name, body: '{}' };
    });
    const owners = rows.map(({ id, org_id }) => ({ org_id, api: id, kind: 'user', owner: 'other' }));
    for (let at = 0; at < rows.length; at += 550) {
      await db
        .insertInto('apis')
        .values(rows.slice(at, at + 550))
        .execute();
      await db
        .insertInto('api_owners')
        .values(owners.slice(at, at + 550))
        .execute();
    }
    const { accessKey: credential } = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const { results } = await search(word, { credential });
    assert.deepEqual(results, [{ kind: 'apis', items: results[0].items, more: false }]);
    assert.deepEqual(await find(word, { credential }), { apis: [last] });
    assert.equal((await search(word)).results[0].more, true);
    await db.deleteFrom('apis').where('id', 'like', `${word}.%`).execute();
    await db.deleteFrom('api_owners').where('api', 'like', `${word}.%`).execute();
  });

  test('at most ten of a kind are returned, in the order of their names, with a sign that there are more', async () => {
    const word = createPublicId();
    const { accessKey: credential } = await app().stranger();
    const names = Array.from({ length: 10 }, (_each, index) => `${String.fromCharCode(106 - index)} ${word}`);
    for (const name of names)
      await ok('POST', '/api/usergroups', { name, user_permissions: { apis: 'read' } }, credential);
    const read = async () => (await search(word, { credential })).results[0];
    const all = await read();
    assert.deepEqual([all.items.map(({ name }: Item) => name), all.more], [names.toReversed(), false]);
    await ok('POST', '/api/usergroups', { name: `z ${word}`, user_permissions: { apis: 'read' } }, credential);
    const first = await read();
    assert.deepEqual([first.items, first.more], [all.items, true]);
  });

  test('objects that an earlier release stored are indexed by the migration', async () => {
    const word = `older${createPublicId()}`;
    const ids = await createAll(word);
    const { records, services } = app().application.installation;
    const name = `Older.${createPublicId()}`;
    const basic = { ...rightsTo(ids.apis!), basic_auth_data: { password: 'a long password' } };
    await ok('POST', `/api/apis/keys/basic/${name}`, basic);
    const readIndex = () =>
      records.db
        .selectFrom('search_names')
        .selectAll()
        .where('kind', '!=', 'oauth_clients')
        .orderBy('kind')
        .orderBy('text')
        .orderBy('object')
        .execute();
    const before = await readIndex();
    const position = migrations.findIndex(it => it.name === 'search-names');
    await records.db.schema.dropTable('search_names').execute();
    await services.meta.set('schema_version', String(position));
    await migrate(records.db, records.engine, migrations.slice(0, position + 1));
    await services.meta.set('schema_version', String(migrations.length));
    assert.deepEqual(await readIndex(), before);
    const { oauth_clients: _later, ...indexed } = ids;
    assert.deepEqual(await find(word), Object.fromEntries(Object.entries(indexed).map(([kind, id]) => [kind, [id]])));
  });

  test('a search without a text, with several lines, too long or of an unknown kind is refused', async () => {
    for (const [query, message] of [
      ['', /^q: is required/],
      ['q=%20', /^q: is required/],
      ['q=a%0Ab', /^q: must be one line/],
      [`q=${'a'.repeat(201)}`, /^q: /],
      ['q=a&kinds=cats', /^kinds\[0\]: /],
    ] as const) {
      const { status, body } = await app().ask('GET', `/api/search?${query}`);
      assert.equal(status, 400, query);
      assert.match(body.Message, message);
    }
    for (const [body, message] of [
      [{}, /^q: /],
      [{ q: 'a\nb' }, /^q: must be one line/],
      [{ q: 'a', kinds: ['cats'] }, /^kinds\[0\]: /],
    ] as const) {
      const refused = await app().ask('POST', '/api/search', { body });
      assert.equal(refused.status, 400, refused.text);
      assert.match(refused.body.Message, message);
    }
  });
});
