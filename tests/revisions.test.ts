import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { maxAssetsPerOrganisation } from '#apis/assets/store.ts';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp, type TestApp } from './support/app.ts';
import { addPerson } from './support/browser.ts';
import { makeAuthority } from './support/certificates.ts';

/** History of configuration objects: every change keeps a revision, and a revision can be restored. */

type Body = Record<string, unknown>;

/** Time of the concurrent writers with `GW_TEST_LONG=1`; otherwise they write one round after another, once. */
const longTestMs = 60_000;
/** Rounds of writes that run at the same time. */
const roundsTogether = 3;
/** Default of `history.max_revisions`. */
const maxRevisions = 100;

/** One kind of object with a history. */
interface Kind {
  readonly name: string;
  /** Path of the collection, and of the history. */
  readonly path: string;
  readonly history: string;
  /** Body of a write that distinguishes version and object. */
  body(version: number, unique: string): Body;
  /** Id in the response of a create. */
  idOf(answer: Body): string;
  /** The state that a read returns, without what each write changes. */
  stateOf(read: Body): unknown;
}

const definition = (version: number, unique: string) => ({
  name: `Api ${unique}`,
  proxy: { listen_path: `/${unique}/`, target_url: `http://127.0.0.1:1/v${version}` },
  version_data: { not_versioned: true, versions: { Default: { name: 'Default' } } },
  upstream_auth: { enabled: true, basic_auth: { enabled: true, username: 'u', password: `planted ${unique}` } },
});
const templateData = (password: string) => ({
  'x-gw-api-gateway': {
    upstream: { authentication: { enabled: true, basicAuth: { enabled: true, username: 'u', password } } },
  },
});
const profile = (Secret: string, more: Body = {}) => ({
  Name: 'Staff',
  ProviderName: 'SocialProvider',
  ProviderConfig: {
    UseProviders: [
      {
        Name: 'openid-connect',
        Key: 'client',
        Secret,
        DiscoverURL: 'https://idp.example/.well-known/openid-configuration',
      },
    ],
  },
  ...more,
});
const omit = (value: unknown, ...names: string[]): Body =>
  Object.fromEntries(Object.entries(value as Body).filter(([name]) => !names.includes(name)));

const kinds: readonly Kind[] = [
  {
    name: 'API',
    path: '/api/apis',
    history: '/api/revisions/apis',
    body: (version, unique) => ({ api_definition: definition(version, unique) }),
    idOf: ({ ID }) => String(ID),
    stateOf: read => omit(read, 'created_at', 'updated_at'),
  },
  {
    name: 'OAS API',
    path: '/api/apis/oas',
    history: '/api/revisions/apis',
    body: (version, unique) => ({
      openapi: '3.0.3',
      info: { title: `Oas ${unique}`, version: `${version}` },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: `Oas ${unique}`, state: { active: true } },
        upstream: { url: 'http://127.0.0.1:1/' },
        server: { listenPath: { value: `/${unique}/` } },
      },
    }),
    idOf: ({ ID }) => String(ID),
    stateOf: read => read,
  },
  {
    name: 'policy',
    path: '/api/portal/policies',
    history: '/api/revisions/policies',
    body: (version, unique) => ({ name: unique, rate: version, per: 60 }),
    idOf: ({ Message }) => String(Message),
    stateOf: read => omit(read, 'last_updated', 'date_created'),
  },
  {
    name: 'webhook',
    path: '/api/hooks',
    history: '/api/revisions/hooks',
    body: (version, unique) => ({
      method: 'POST',
      target_path: 'http://127.0.0.1:1/hook',
      name: `v${version}`,
      header_map: { 'x-secret': `planted ${unique}` },
    }),
    idOf: ({ ID }) => String(ID),
    stateOf: read => read,
  },
  {
    name: 'user',
    path: '/api/users',
    history: '/api/revisions/users',
    body: (version, unique) => ({
      first_name: `v${version}`,
      last_name: 'B',
      email_address: `${unique}@example.org`,
      active: true,
      user_permissions: { apis: 'read' },
    }),
    idOf: ({ Meta }) => String(Meta),
    stateOf: read => omit(read, 'access_key', 'last_login_date', 'password_updated'),
  },
  {
    name: 'user group',
    path: '/api/usergroups',
    history: '/api/revisions/usergroups',
    body: version => ({ name: `v${version}`, user_permissions: { apis: 'read' } }),
    idOf: ({ Meta }) => String(Meta),
    stateOf: read => read,
  },
  {
    name: 'template',
    path: '/api/assets',
    history: '/api/revisions/assets',
    body: (version, unique) => ({ id: unique, name: `v${version}`, data: templateData(`planted ${unique}`) }),
    idOf: ({ Meta }) => String(Meta),
    stateOf: read => omit(read, 'last_updated'),
  },
  {
    name: 'identity profile',
    path: '/api/sso/profiles',
    history: '/api/revisions/profiles',
    body: (version, unique) => profile(`planted ${unique}`, { Name: `v${version}` }),
    idOf: ({ Meta }) => String(Meta),
    stateOf: read => omit(read, 'UpdatedAt', 'UpdatedBy'),
  },
];

async function ok(app: TestApp, method: string, path: string, body?: unknown, headers?: Record<string, string>) {
  const answer = await app.ask(method, path, { body, ...(headers && { headers }) });
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${answer.text}`);
  return answer.body;
}

interface Listed {
  readonly revision: number;
  readonly action: string;
  readonly author: Body | null;
  readonly paths: readonly string[];
}
const list = async (app: TestApp, path: string): Promise<Listed[]> => (await ok(app, 'GET', `${path}?p=-1`)).revisions;

onEveryEngine('notes of revisions', app => {
  test('the note of a write is stored with its revision, and one that is malformed changes nothing', async () => {
    const { ask } = app();
    const body = { id: 'noted', name: 'Noted', access_rights: {} };
    const write = (rate: number, note?: string) => {
      const headers: Record<string, string> = note === undefined ? {} : { 'x-gw-change-note': note };
      return ask('PUT', '/api/portal/policies/noted', { body: { ...body, rate, per: 60 }, headers });
    };
    assert.equal((await ask('POST', '/api/portal/policies', { body })).status, 200);
    assert.equal((await write(5, encodeURIComponent(' Größe – für Müller '))).status, 200);
    assert.equal((await write(6)).status, 200);
    for (const note of ['%zz', '%00', encodeURIComponent('a\nb'), 'x'.repeat(501)]) {
      const { status, text } = await write(7, note);
      assert.equal(status, 400, text);
      assert.match(text, /X-Gw-Change-Note must be/);
    }
    assert.equal((await ask('GET', '/api/portal/policies/noted')).body.rate, 6);
    const { revisions } = (await ask('GET', '/api/revisions/policies/noted')).body;
    assert.deepEqual(
      revisions.map(({ revision, note }: Body) => [revision, note]),
      [
        [3, ''],
        [2, 'Größe – für Müller'],
        [1, ''],
      ],
    );
    const [third, second, first] = revisions.map(({ summary }: Body) => summary as string[]);
    assert.deepEqual([third, first], [['rate limit 5 → 6 a minute'], []]);
    assert.match(second.join(), /^rate limit .*5 a minute/);
  });
});

onEveryEngine('Revisions', app => {
  async function create(kind: Kind) {
    const unique = `r${createPublicId()}`;
    const id = kind.idOf(await ok(app(), 'POST', kind.path, kind.body(1, unique)));
    const path = `${kind.path}/${id}`;
    return {
      id,
      unique,
      history: `${kind.history}/${id}`,
      path,
      put: (version: number) => ok(app(), 'PUT', path, kind.body(version, unique)),
      read: async () => kind.stateOf(await ok(app(), 'GET', path)),
      restore: (revision: number) => ok(app(), 'POST', `${kind.history}/${id}/${revision}/restore`),
      remove: () => ok(app(), 'DELETE', path),
    };
  }

  for (const kind of kinds)
    describe(kind.name, () => {
      test('each change keeps a revision with its author, client and differences', async () => {
        const object = await create(kind);
        await object.put(2);
        await object.put(2);
        const [second, first, ...none] = await list(app(), object.history);
        assert.deepEqual(none, []);
        assert.deepEqual([second?.revision, second?.action, first?.action], [2, 'updated', 'created']);
        assert.ok(second!.paths.length > 0 && second!.paths.every(path => path.startsWith('/')));
        const { author } = second!;
        assert.deepEqual([author?.surface, author?.address], ['dashboard', '127.0.0.1']);
        assert.ok(author?.id !== '' && /^update/.test(String(author?.operation)) && author?.user_agent === 'node');
        const compared = await ok(app(), 'GET', `${object.history}/compare?from=1&to=2`);
        assert.deepEqual(
          compared.changes.map(({ path }: { path: string }) => path),
          second!.paths,
        );
        assert.deepEqual((await ok(app(), 'GET', `${object.history}/2`)).changes, compared.changes);
      });

      test('the restore of any revision gives its state, also after a removal, under the same id', async () => {
        const object = await create(kind);
        const states = new Map<number, unknown>([[1, await object.read()]]);
        for (const version of [2, 3]) {
          await object.put(version);
          states.set(version, await object.read());
        }
        await object.restore(1);
        assert.deepEqual(await object.read(), states.get(1));
        await object.restore(3);
        await object.remove();
        assert.notEqual((await app().ask('GET', object.path)).status, 200);
        const [removal] = await list(app(), object.history);
        assert.deepEqual([removal?.revision, removal?.action], [6, 'deleted']);
        const refused = await app().ask('POST', `${object.history}/6/restore`);
        assert.deepEqual([refused.status, /is the removal/.test(refused.text)], [409, true]);
        for (const [revision, state] of states) {
          await object.restore(revision);
          assert.deepEqual(await object.read(), state);
        }
      });

      test('no plain secret is in the stored revisions', async () => {
        const object = await create(kind);
        await object.put(2);
        const { records } = app().application.installation;
        const rows = await records.db.selectFrom('revisions').selectAll().execute();
        const text = JSON.stringify(rows.map(({ public_id: _id, ...row }) => row));
        assert.ok(!text.includes(`planted ${object.unique}`));
      });

      test('another organisation sees no history and restores nothing', async () => {
        const object = await create(kind);
        const { accessKey: credential } = await app().stranger();
        for (const [method, path] of [
          ['GET', object.history],
          ['GET', `${object.history}/1`],
          ['GET', `${object.history}/compare?from=1&to=1`],
          ['POST', `${object.history}/1/restore`],
        ] as const)
          assert.ok([400, 404].includes((await app().ask(method, path, { credential })).status), path);
      });
    });

  test('a property: the restore of revision n gives state n, for any sequence of changes', async () => {
    const group = kinds.find(({ name }) => name === 'user group')!;
    const policy = kinds.find(({ name }) => name === 'policy')!;
    const steps = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.constant('remove'), fc.constant('restore')), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(group, policy), steps, async (kind, sequence) => {
        const object = await create(kind);
        let current: unknown = await object.read();
        const states = new Map<number, unknown>([[1, current]]);
        const note = async () => {
          const answer = await app().ask('GET', object.path);
          current = answer.status === 200 ? kind.stateOf(answer.body) : undefined;
          const [newest] = await list(app(), object.history);
          states.set(newest!.revision, current);
        };
        for (const step of sequence) {
          if (step === 'restore') await object.restore(1);
          else if (current === undefined) continue;
          else if (step === 'remove') await object.remove();
          else await object.put(step as number);
          await note();
        }
        for (const [revision, state] of states) {
          if (state === undefined) continue;
          await object.restore(revision);
          assert.deepEqual(await object.read(), state);
        }
      }),
      { numRuns: 6 },
    );
  });

  test('two users and a script change the same objects: no update is lost without 412, every state is kept', {
    timeout: 300_000,
  }, async t => {
    const policy = kinds.find(({ name }) => name === 'policy')!;
    const objects = await Promise.all([create(policy), create(policy)]);
    const isLong = process.env.GW_TEST_LONG === '1';
    const endsAtMs = Date.now() + longTestMs;
    let rounds = 0;
    let conflicts = 0;
    const credentials = [
      undefined,
      (await addPerson(app(), { user_permissions: { policies: 'write' } })).accessKey,
    ] as const;
    const written = objects.map(() => new Set<string>());
    /** Read-modify-write under If-Match until it succeeds. */
    async function append(at: number, tag: string, credential: string | undefined): Promise<void> {
      const asked = credential === undefined ? {} : { credential };
      for (;;) {
        const { body, headers } = await app().ask('GET', objects[at]!.path, asked);
        const next = { name: objects[at]!.unique, tags: [...(body.tags ?? []), tag] };
        const answer = await app().ask('PUT', objects[at]!.path, {
          ...asked,
          body: next,
          headers: { 'if-match': headers.get('etag') ?? '' },
        });
        if (answer.status === 200) return void written[at]!.add(tag);
        assert.equal(answer.status, 412, answer.text);
        conflicts++;
      }
    }
    const gatewaySecret = async (at: number, tag: string) => {
      for (;;) {
        const path = `/gw/policies/${objects[at]!.id}`;
        const { body, headers } = await app().ask('GET', path);
        const next = { ...body, tags: [...(body.tags ?? []), tag] };
        const tagHeader = { 'if-match': headers.get('etag') ?? '' };
        const answer = await app().ask('PUT', path, { body: next, headers: tagHeader });
        if (answer.status === 200) return void written[at]!.add(tag);
        assert.equal(answer.status, 412, answer.text);
        conflicts++;
      }
    };
    const runRound = (round: number) =>
      objects.flatMap((_object, at) => [
        append(at, `a${round}`, credentials[0]),
        append(at, `b${round}`, credentials[1]),
        gatewaySecret(at, `c${round}`),
      ]);
    do {
      const together = Array.from({ length: roundsTogether }, () => runRound(rounds++));
      await Promise.all(together.flat());
    } while (isLong && Date.now() < endsAtMs);
    if (isLong) t.diagnostic(`${rounds * 3 * objects.length} writes, ${conflicts} responses with 412`);
    for (const [at, object] of objects.entries()) {
      const { tags } = await ok(app(), 'GET', object.path);
      assert.deepEqual([...tags].sort(), [...written[at]!].sort());
      assert.equal(tags.length, rounds * 3);
      const revisions = await list(app(), object.history);
      assert.equal(revisions.length, Math.min(rounds * 3 + 1, maxRevisions));
      assert.deepEqual(new Set(revisions.map(({ author }) => author?.surface)), new Set(['dashboard', 'gateway']));
      for (const { revision } of revisions) {
        const { state } = await ok(app(), 'GET', `${object.history}/${revision}`);
        assert.equal((state.tags ?? []).length, revision - 1);
      }
      const { revision: oldest } = revisions.at(-4)!;
      await object.restore(oldest);
      assert.deepEqual((await ok(app(), 'GET', object.path)).tags?.length, oldest - 1);
    }
  });

  test('an object from before its history has its first state when it changes', async () => {
    const object = await create(kinds[2]!);
    const { records } = app().application.installation;
    await records.db.deleteFrom('revisions').where('public_id', '=', object.id).execute();
    const before = await object.read();
    await object.put(2);
    const [second, first] = await list(app(), object.history);
    assert.deepEqual([second?.action, first?.action, first?.author], ['updated', 'found', null]);
    await object.restore(1);
    assert.deepEqual(await object.read(), before);
  });

  test('a change that a deleted API causes in a policy, and a write of the control API, are in the history', async () => {
    const [kept, gone] = [await create(kinds[0]!), await create(kinds[0]!)];
    const access_rights = Object.fromEntries(
      [kept.id, gone.id].map(api_id => [api_id, { api_id, versions: ['Default'] }]),
    );
    const name = createPublicId();
    const { Message: id } = await ok(app(), 'POST', '/api/portal/policies', { name, access_rights });
    await gone.remove();
    const [last] = await list(app(), `/api/revisions/policies/${id}`);
    assert.deepEqual([last?.author?.operation, last?.action], ['deleteApi', 'updated']);
    assert.ok(last?.paths.some(path => path.startsWith('/access_rights')));
    const gwApi = { ...definition(1, `g${createPublicId()}`), api_id: createPublicId() };
    await ok(app(), 'POST', '/gw/apis', gwApi);
    const [created] = await list(app(), `/api/revisions/apis/${gwApi.api_id}`);
    assert.deepEqual([created?.author?.surface, created?.author?.name], ['gateway', 'operator']);
  });

  test('a failed write keeps no revision', async () => {
    const object = await create(kinds[0]!);
    const other = await create(kinds[0]!);
    const body = { api_definition: definition(2, other.unique) };
    const refused = await app().ask('PUT', object.path, { body });
    assert.ok(refused.status >= 400, refused.text);
    assert.equal((await list(app(), object.history)).length, 1);
  });

  test('a certificate is restored without a private key only, and its revisions hold none', async () => {
    const { certPem, keyPem } = makeAuthority(createPublicId());
    const upload = (pem: string) => {
      const form = new FormData();
      form.set('file', new Blob([pem]), 'a.pem');
      return ok(app(), 'POST', '/api/certs', form);
    };
    const { id: plain } = await upload(certPem);
    const shown = await ok(app(), 'GET', `/api/certs/${plain}`);
    await ok(app(), 'DELETE', `/api/certs/${plain}`);
    await ok(app(), 'POST', `/api/revisions/certs/${plain}/1/restore`);
    assert.deepEqual(await ok(app(), 'GET', `/api/certs/${plain}`), shown);
    await ok(app(), 'DELETE', `/api/certs/${plain}`);
    const { id } = await upload(certPem + keyPem);
    await ok(app(), 'DELETE', `/api/certs/${id}`);
    const revisions = await list(app(), `/api/revisions/certs/${id}`);
    const { changes } = await ok(app(), 'GET', `/api/revisions/certs/${plain}/compare?from=1&to=3`);
    assert.deepEqual(changes, []);
    assert.deepEqual((await ok(app(), 'GET', `/api/revisions/certs/${plain}/1`)).state, shown);
    const refused = await app().ask('POST', `/api/revisions/certs/${id}/${revisions[1]!.revision}/restore`);
    assert.deepEqual([refused.status, /upload both again/.test(refused.text)], [409, true]);
    const { records } = app().application.installation;
    const rows = await records.db.selectFrom('revisions').select('body').where('object_id', '=', id).execute();
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes('sealedKey'));
  });

  test('a restored user has a new access key, no password and its permissions; a password makes no revision', async () => {
    const person = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const path = `/api/revisions/users/${person.id}`;
    const before = (await list(app(), path)).length;
    await ok(app(), 'PUT', `/admin/users/${person.id}`, { password: 'correct horse battery' });
    assert.equal((await list(app(), path)).length, before);
    await ok(app(), 'DELETE', `/api/users/${person.id}`);
    await ok(app(), 'POST', `${path}/1/restore`);
    const restored = await ok(app(), 'GET', `/admin/users/${person.id}`);
    assert.deepEqual(restored.user_permissions, { apis: 'read' });
    assert.equal((await app().ask('GET', '/api/users/me', { credential: person.accessKey })).status, 401);
    const { records } = app().application.installation;
    const rows = await records.db.selectFrom('revisions').select('body').where('object_id', '=', person.id).execute();
    for (const { body } of rows) assert.doesNotMatch(body, /access_key|password"|scrypt/);
  });

  test('a restore grants no more than an update of the same caller', async () => {
    const strong = await addPerson(app(), { user_permissions: { apis: 'write', keys: 'write' } });
    await ok(app(), 'PUT', `/admin/users/${strong.id}`, { user_permissions: { apis: 'read' } });
    const weak = await addPerson(app(), { user_permissions: { users: 'write' } });
    const path = `/api/revisions/users/${strong.id}`;
    const refused = await app().ask('POST', `${path}/1/restore`, { credential: weak.accessKey });
    assert.equal(refused.status, 403, refused.text);
    const reader = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const object = await create(kinds[0]!);
    const listed = await app().ask('GET', object.history, { credential: reader.accessKey });
    assert.equal(listed.status, 200, listed.text);
    const { text } = await app().ask('GET', `${object.history}/1`, { credential: reader.accessKey });
    assert.ok(!text.includes(`planted ${object.unique}`) && text.includes(object.unique));
    const restored = await app().ask('POST', `${object.history}/1/restore`, { credential: reader.accessKey });
    assert.equal(restored.status, 403);
  });

  test('a template is not restored where its id is taken, or the organisation has too many', async () => {
    const { accessKey: credential, orgId } = await app().stranger();
    const ask = (method: string, path: string, body?: unknown) => app().ask(method, path, { credential, body });
    const template = { id: 'base', name: 'Base', data: templateData('first planted') };
    const { body: created } = await ask('POST', '/api/assets', template);
    const restore = () => ask('POST', `/api/revisions/assets/${created.Meta}/1/restore`);
    await ask('DELETE', `/api/assets/${created.Meta}`);
    const { body: other } = await ask('POST', '/api/assets', { ...template, data: templateData('second planted') });
    const taken = await restore();
    assert.deepEqual([taken.status, /another template has it/.test(taken.text)], [409, true], taken.text);
    const changed = await ask('PUT', `/api/assets/${other.Meta}`, { ...template, data: templateData('third planted') });
    assert.equal(changed.status, 200, changed.text);
    const reader = await addPerson(app(), { org_id: orgId, user_permissions: { api_assets: 'read' } });
    const history = `/api/revisions/assets/${other.Meta}/2`;
    const shown = await app().ask('GET', history, { credential: reader.accessKey });
    assert.match(JSON.stringify(shown.body.changes), /basicAuth\/password/);
    assert.ok(!shown.text.includes('planted') && (await ask('GET', history)).text.includes('third planted'));
    const compared = await ask('GET', `/api/revisions/assets/${other.Meta}/compare?from=1&to=2`);
    assert.equal(compared.body.changes.length, 1, compared.text);
    await ask('DELETE', `/api/assets/${other.Meta}`);
    const { db } = app().application.installation.records;
    const rows = Array.from({ length: maxAssetsPerOrganisation }, (_none, at) => ({
      ...{ id: `${orgId}-${at}`, org_id: orgId, asset_id: `t${at}`, kind: 'oas-template', created_at: at, body: '{}' },
    }));
    await db.insertInto('assets').values(rows).execute();
    for (const refused of [await restore(), await ask('POST', '/api/assets', template)])
      assert.deepEqual([refused.status, /templates already/.test(refused.text)], [409, true], refused.text);
    await db.deleteFrom('assets').where('org_id', '=', orgId).execute();
    assert.equal((await restore()).status, 200);
  });

  test('an identity profile is restored by those alone who may write it, and its secrets are masked', async () => {
    const addGroup = async (user_permissions: Body) =>
      (await ok(app(), 'POST', '/api/usergroups', { name: 'g', user_permissions })).Meta as string;
    const strong = await addPerson(app(), { user_permissions: { idm: 'write', keys: 'write' } });
    const weak = await addPerson(app(), { user_permissions: { idm: 'write' } });
    const create = async (more: Body, credential?: string) => {
      const { body, text } = await app().ask('POST', '/api/sso/profiles', {
        ...{ body: profile('planted', more), ...(credential && { credential }) },
      });
      assert.equal(body.Status, 'OK', text);
      return String(body.Meta);
    };
    const refuse = async (id: string, credential: string, status: number, message: RegExp) => {
      const answer = await app().ask('POST', `/api/revisions/profiles/${id}/1/restore`, { credential });
      assert.equal(answer.status, status, answer.text);
      assert.match(answer.text, message);
    };
    const own = await create({});
    await ok(app(), 'PUT', `/api/sso/profiles/${own}`, profile('other planted', { Active: false }));
    await refuse(own, weak.accessKey, 403, /an administrator wrote this profile/);
    const { text } = await app().ask('GET', `/api/revisions/profiles/${own}/2`, { credential: weak.accessKey });
    assert.match(text, /UseProviders\/0\/Secret/);
    assert.ok(!text.includes('planted') && !text.includes('UpdatedBy'), text);
    const compared = await ok(app(), 'GET', `/api/revisions/profiles/${own}/compare?from=1&to=2`);
    assert.equal(compared.changes.length, 2);
    assert.equal((await list(app(), `/api/revisions/profiles/${own}`)).length, 2);
    await ok(app(), 'DELETE', `/api/sso/profiles/${own}`);
    await refuse(own, weak.accessKey, 403, /an administrator wrote this profile/);

    const keys = await addGroup({ keys: 'write' });
    const mapped = await create({ UserGroupMapping: { staff: keys } }, strong.accessKey);
    await refuse(mapped, weak.accessKey, 403, /keys/);
    const api = { api_definition: definition(1, `o${createPublicId()}`), user_group_owners: [keys] };
    const { ID } = await ok(app(), 'POST', '/api/apis', api);
    await refuse(mapped, strong.accessKey, 403, /owns? /);
    await ok(app(), 'DELETE', `/api/apis/${ID}`);
    // Written by an earlier release: a write refuses it.
    const { groups } = app().application.installation.services;
    const stored = (await groups.get(app().credentials.organisation_id, keys))!;
    await groups.replace({ ...stored, user_permissions: { IsAdmin: 'admin' } });
    await refuse(mapped, strong.accessKey, 403, /administrator/);
    await ok(app(), 'DELETE', `/api/usergroups/${keys}`);
    await refuse(mapped, strong.accessKey, 400, /there is no user group/);
  });

  test('an identity profile is not restored where the organisation has too many', async () => {
    const { accessKey: credential, orgId } = await app().stranger();
    const { body } = await app().ask('POST', '/api/sso/profiles', { credential, body: profile('planted') });
    await app().ask('DELETE', `/api/sso/profiles/${body.Meta}`, { credential });
    const { db } = app().application.installation.records;
    const rows = Array.from({ length: 100 }, (_none, at) => ({
      ...{ id: `${orgId}-${at}`, org_id: orgId, name: `p${at}`, created_at: at, body: '{}' },
    }));
    await db.insertInto('identity_profiles').values(rows).execute();
    const restore = () => app().ask('POST', `/api/revisions/profiles/${body.Meta}/1/restore`, { credential });
    const refused = await restore();
    assert.deepEqual([refused.status, /limit reached/.test(refused.text)], [403, true], refused.text);
    await db.deleteFrom('identity_profiles').where('org_id', '=', orgId).execute();
    assert.equal((await restore()).status, 200);
  });

  test('a removed user is restored only by administrators with ResetPassword', async () => {
    const removed = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const writer = await addPerson(app(), { user_permissions: { users: 'write', apis: 'write' } });
    await ok(app(), 'DELETE', `/api/users/${removed.id}`);
    const restore = `/api/revisions/users/${removed.id}/1/restore`;
    const admin = await addPerson(app(), { user_permissions: { IsAdmin: 'admin' } });
    assert.equal((await app().ask('POST', restore, { credential: writer.accessKey })).status, 403);
    const refused = await app().ask('POST', restore, { credential: admin.accessKey });
    assert.deepEqual([refused.status, /ResetPassword/.test(refused.text)], [403, true], refused.text);
    assert.equal((await app().ask('GET', `/admin/users/${removed.id}`)).status, 404);
    await ok(app(), 'POST', restore);
  });

  test('authors and their clients are shown to callers with the permission to read them', async () => {
    const object = await create(kinds[0]!);
    const shown = async (user_permissions: Body) => {
      const { accessKey } = await addPerson(app(), { user_permissions });
      const { body } = await app().ask('GET', object.history, { credential: accessKey });
      const { name, address, user_agent } = body.revisions[0].author;
      return [name !== '', address !== '', user_agent !== ''];
    };
    assert.deepEqual(await shown({ apis: 'read' }), [false, false, false]);
    assert.deepEqual(await shown({ apis: 'read', users: 'read' }), [true, false, false]);
    assert.deepEqual(await shown({ apis: 'read', audit_logs: 'read' }), [true, true, true]);
  });

  test('differences of a policy name no API that is hidden from the caller', async () => {
    const app = await startApp('sqlite', { settings: { 'apis.owners_only': 'true' } });
    try {
      const owner = await addPerson(app, { user_permissions: { apis: 'write' } });
      const reader = await addPerson(app, { user_permissions: { policies: 'read', apis: 'read' } });
      const add = async (owners: readonly string[]) => {
        const body = { api_definition: definition(1, `h${createPublicId()}`), user_owners: owners };
        return String((await ok(app, 'POST', '/api/apis', body)).ID);
      };
      const [hidden, open] = [await add([owner.id]), await add([reader.id])];
      const write = (rate: number) => ({
        name: 'both',
        rate: 1,
        per: 60,
        access_rights: Object.fromEntries(
          [hidden, open].map(api_id => [api_id, { api_id, versions: ['Default'], limit: { rate, per: 60 } }]),
        ),
      });
      const { Message: id } = await ok(app, 'POST', '/api/portal/policies', write(5));
      await ok(app, 'PUT', `/api/portal/policies/${id}`, write(9));
      const history = `/api/revisions/policies/${id}`;
      for (const path of [history, `${history}/2`, `${history}/compare?from=1&to=2`]) {
        const { status, text } = await app.ask('GET', path, { credential: reader.accessKey });
        assert.equal(status, 200, text);
        assert.ok(!text.includes(hidden) && text.includes(open), `${path}: ${text}`);
      }
    } finally {
      await app.close();
    }
  });

  test('a changed secret is in the differences, masked for a reader', async () => {
    const object = await create(kinds[0]!);
    const next = definition(1, object.unique);
    next.upstream_auth.basic_auth.password = 'another planted';
    await ok(app(), 'PUT', object.path, { api_definition: next });
    const reader = await addPerson(app(), { user_permissions: { apis: 'read' } });
    const read = (credential?: string) =>
      app().ask('GET', `${object.history}/2`, credential === undefined ? {} : { credential });
    const [change] = (await read()).body.changes;
    assert.deepEqual(change.after, 'another planted');
    const { body, text } = await read(reader.accessKey);
    assert.equal(body.changes[0].path, change.path);
    assert.ok(!text.includes('another planted'));
  });

  test('the rules of the organisation apply to a restore as to the update', async () => {
    const object = await create(kinds[3]!);
    await object.put(2);
    const { services } = app().application.installation;
    const { enforceForActor } = services.rules;
    const seen: string[] = [];
    services.rules.enforceForActor = async (actor, request) => {
      seen.push(`${request.operation} ${request.method} ${request.path}`);
      return enforceForActor(actor, request);
    };
    try {
      await object.restore(1);
    } finally {
      services.rules.enforceForActor = enforceForActor;
    }
    assert.ok(seen.includes(`updateHook PUT ${object.path}`), seen.join());
  });

  test('the history of an organisation is removed with it', async () => {
    const { orgId, accessKey: credential } = await app().stranger();
    const { records } = app().application.installation;
    const count = async () =>
      (await records.db.selectFrom('revisions').select('id').where('org_id', '=', orgId).execute()).length;
    const hook = kinds[3]!.body(1, 'x');
    const { body } = await app().ask('POST', '/api/hooks', { body: hook, credential });
    await app().ask('DELETE', `/api/hooks/${body.ID}`, { credential });
    assert.ok((await count()) > 0);
    await ok(app(), 'DELETE', `/admin/organisations/${orgId}`);
    assert.equal(await count(), 0);
  });
});

describe('Ownership of revisions', () => {
  test('the history of an API is visible to its owners only, also after its removal and after it lost its owners', async () => {
    const app = await startApp('sqlite', { settings: { 'apis.owners_only': 'true' } });
    try {
      const [owner, other] = [
        await addPerson(app, { user_permissions: { apis: 'write' } }),
        await addPerson(app, { user_permissions: { apis: 'write' } }),
      ];
      const unique = `o${createPublicId()}`;
      const body = { api_definition: definition(1, unique), user_owners: [owner.id] };
      const { ID: id } = await ok(app, 'POST', '/api/apis', body);
      const history = `/api/revisions/apis/${id}`;
      const statuses = async (path: string, method = 'GET') => [
        (await app.ask(method, path, { credential: owner.accessKey })).status,
        (await app.ask(method, path, { credential: other.accessKey })).status,
      ];
      assert.deepEqual(await statuses(history), [200, 403]);
      await ok(app, 'DELETE', `/api/apis/${id}`);
      assert.deepEqual(await statuses(history), [200, 404]);
      assert.equal((await app.ask('POST', `${history}/1/restore`, { credential: other.accessKey })).status, 404);
      assert.equal((await app.ask('POST', `${history}/1/restore`, { credential: owner.accessKey })).status, 200);
      await ok(app, 'PUT', `/api/apis/${id}/access`, { userIds: [] });
      assert.deepEqual(await statuses(history), [200, 200]);
      assert.deepEqual(await statuses(`${history}/1`), [200, 404]);
      assert.deepEqual(await statuses(`${history}/compare?from=1&to=4`), [200, 404]);
    } finally {
      await app.close();
    }
  });
});

describe('Bounds of the history', () => {
  test('the oldest revisions of an organisation beyond its size are removed, current states and others are not', async () => {
    const app = await startApp('sqlite', { settings: { 'history.max_bytes_per_organisation': '20000' } });
    try {
      const { revisions } = app.application.installation.services;
      const { accessKey: credential } = await app.stranger();
      const write = async (id: string, version: number, more: { credential?: string } = {}) => {
        const body = { id, name: `v${version}`, data: { text: 'x'.repeat(4000), version } };
        const [method, path] = version === 1 ? ['POST', '/api/assets'] : ['PUT', `/api/assets/${id}`];
        assert.ok((await app.ask(method!, path!, { body, ...more })).status < 300);
      };
      for (const version of [1, 2]) await write('small', version, { credential });
      await write('first', 1);
      for (const version of [1, 2, 3, 4]) await write('second', version);
      assert.equal(await revisions.removeOverflow(), false);
      const numbers = async (id: string) =>
        (await list(app, `/api/revisions/assets/${id}`)).map(({ revision }) => revision);
      assert.deepEqual(await numbers('first'), [1], 'a current state stays');
      const second = await numbers('second');
      assert.ok(second.length < 4 && second[0] === 4, String(second));
      const { body } = await app.ask('GET', '/api/revisions/assets/small', { credential });
      assert.equal(body.revisions.length, 2);
    } finally {
      await app.close();
    }
  });

  test('a list of large states reads a bounded part of them, and lists the others without differences', async () => {
    const app = await startApp('sqlite');
    try {
      const group = (name: string) => ({ name, user_permissions: { apis: 'read' } });
      const { Meta: id } = await ok(app, 'POST', '/api/usergroups', group('v1'));
      for (const version of [2, 3, 4, 5, 6]) await ok(app, 'PUT', `/api/usergroups/${id}`, group(`v${version}`));
      const { db } = app.application.installation.records;
      await db.updateTable('revisions').set({ bytes: 20_000_000 }).where('object_id', '=', id).execute();
      const { revisions } = await ok(app, 'GET', `/api/revisions/usergroups/${id}?p=-1`);
      assert.deepEqual(
        revisions.map((it: Listed & { paths_omitted?: true }) => [it.revision, it.paths.length, it.paths_omitted]),
        [
          [6, 1, undefined],
          [5, 0, true],
          [4, 0, true],
          [3, 0, true],
          [2, 0, true],
          [1, 0, true],
        ],
      );
    } finally {
      await app.close();
    }
  });

  test('the oldest revisions beyond the number and the age are removed, the current state is not', async () => {
    let nowMs = Date.now();
    const app = await startApp('sqlite', {
      clock: { now: () => nowMs },
      settings: { 'history.max_revisions': '3', 'history.retention_days': '10' },
    });
    try {
      const group = (name: string) => ({ name, user_permissions: { apis: 'read' } });
      const { Meta: id } = await ok(app, 'POST', '/api/usergroups', group('v1'));
      for (const name of ['v2', 'v3', 'v4', 'v5']) await ok(app, 'PUT', `/api/usergroups/${id}`, group(name));
      const history = `/api/revisions/usergroups/${id}`;
      const numbers = async () => (await list(app, history)).map(({ revision }) => revision);
      assert.deepEqual(await numbers(), [5, 4, 3]);
      assert.equal((await app.ask('GET', `${history}/2`)).status, 404);
      const { revisions } = app.application.installation.services;
      nowMs += 11 * 86_400_000;
      assert.equal(await revisions.removeExpired(), false);
      assert.deepEqual(await numbers(), [5]);
      await ok(app, 'PUT', `/api/usergroups/${id}`, group('v6'));
      assert.deepEqual(await numbers(), [6, 5]);
      await ok(app, 'DELETE', `/api/usergroups/${id}`);
      nowMs += 11 * 86_400_000;
      await revisions.removeExpired();
      assert.equal((await app.ask('GET', history)).status, 404);
    } finally {
      await app.close();
    }
  });
});
