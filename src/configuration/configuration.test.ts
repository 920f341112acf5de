import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import { redactedText } from '#base/redaction.ts';
import { onEveryEngine } from '../../tests/support/app.ts';
import { makeCertificate } from '../../tests/support/certificates.ts';
import { kindNames } from './schema.ts';

interface SentObject {
  kind: string;
  id: string;
  spec: Record<string, unknown>;
}
type Permissions = Record<string, string>;

onEveryEngine('configuration', app => {
  /** An organisation of its own: what a test exports is what it wrote. */
  async function openOrganisation() {
    const { accessKey, orgId, userId } = await app().stranger();
    const ask = (method: string, path: string, body?: unknown, credential = accessKey) =>
      app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) });
    const run = (
      action: 'plan' | 'apply',
      objects: readonly SentObject[],
      prune: string[] = [],
      credential?: string,
    ) =>
      action === 'plan'
        ? ask('POST', '/api/configuration/plan', { objects, prune }, credential)
        : ask('POST', '/api/configuration/apply', { objects, prune }, credential);
    async function apply(objects: readonly SentObject[], prune: string[] = []) {
      const { status, body, text } = await run('apply', objects, prune);
      assert.equal(status, 200, text);
      return body.Meta;
    }
    async function read(kinds: string = kindNames.join(','), credential?: string): Promise<SentObject[]> {
      const { status, body, text } = await ask('GET', `/api/configuration?kinds=${kinds}`, undefined, credential);
      assert.equal(status, 200, text);
      return body.objects;
    }
    async function addUser(user_permissions: Permissions): Promise<{ credential: string; id: string; email: string }> {
      const email = `${createPublicId()}@example.org`;
      const write = { email_address: email, first_name: 'A', last_name: 'B', active: true, org_id: orgId };
      const { body, text } = await app().ask('POST', '/admin/users', { body: { ...write, user_permissions } });
      assert.equal(body.Status, 'OK', text);
      return { credential: body.Message, id: body.Meta.id, email };
    }
    return { orgId, userId, ask, run, apply, read, addUser };
  }
  const faultsOf = (body: { Meta: { faults: { id: string; path: string; message: string }[] } }) =>
    body.Meta.faults.map(({ id, path, message }) => `${id} ${path}: ${message}`);
  const createApi = (id: string, more: object = {}, listenPath = `/${id}/`): SentObject => ({
    kind: 'api',
    id,
    spec: {
      format: 'classic',
      definition: {
        name: `Name of ${id}`,
        active: true,
        use_keyless: true,
        proxy: { listen_path: listenPath, target_url: 'http://127.0.0.1:9/', strip_listen_path: true },
        ...more,
      },
    },
  });
  const createPolicy = (id: string, more: object = {}): SentObject => ({
    kind: 'policy',
    id,
    spec: { name: `Name of ${id}`, rate: 1, per: 1, ...more },
  });
  const createHook = (id: string, header_map: Record<string, string> = {}): SentObject => ({
    kind: 'webhook',
    id,
    spec: { method: 'POST', target_path: 'http://127.0.0.1:1/', header_map },
  });

  test('objects of every kind are created, exported in order, and unchanged when they are sent again', async () => {
    const { apply, read, run } = await openOrganisation();
    const pair = makeCertificate({ cn: 'one' });
    const [group, api] = [createDatabaseId(), createPublicId()];
    const objects: SentObject[] = [
      createPolicy('p', { access_rights: { [api]: { versions: ['Default'] } } }),
      createApi(api),
      { kind: 'template', id: 't', spec: { name: 'T', data: { info: { title: 'x' } } } },
      createHook('h', { 'x-token': 'hidden' }),
      {
        kind: 'user',
        id: 'ann@example.org',
        spec: { first_name: 'Ann', last_name: 'O', group_id: group, user_permissions: { apis: 'read' } },
      },
      { kind: 'group', id: group, spec: { name: 'G', user_permissions: { apis: 'read' } } },
    ];
    const { changes } = await apply(objects);
    assert.deepEqual(
      changes.map((it: { kind: string; action: string }) => `${it.action} ${it.kind}`),
      ['create group', 'create user', 'create webhook', 'create template', 'create api', 'create policy'],
    );
    const { id: fingerprint } = await addCertificate(pair);
    const exported = await read();
    assert.deepEqual(
      exported.map(({ kind }) => kind),
      ['group', 'user', 'user', 'webhook', 'certificate', 'template', 'api', 'policy'],
    );
    assert.equal(exported.find(({ kind }) => kind === 'certificate')!.id, fingerprint);
    assert.ok(!JSON.stringify(exported).includes('hidden'));
    for (const sent of [objects, exported])
      assert.deepEqual((await run('plan', sent, [])).body.Meta.changes, [], 'written by hand or exported');
    assert.deepEqual((await run('plan', exported, [...kindNames])).body.Meta.changes, []);

    async function addCertificate({ certPem, keyPem }: ReturnType<typeof makeCertificate>) {
      const bare = await run('plan', [{ kind: 'certificate', id: 'x', spec: { certificates: certPem } }]);
      const [, id] = /fingerprint, ([0-9a-f]{64})/.exec(faultsOf(bare.body)[0]!)!;
      await apply([{ kind: 'certificate', id: id!, spec: { certificates: certPem } }]);
      const { changes } = await apply([
        { kind: 'certificate', id: id!, spec: { certificates: certPem, private_key: keyPem } },
      ]);
      assert.deepEqual(changes[0].members, [{ path: 'spec.private_key', is_secret: true }]);
      const same = await apply([
        { kind: 'certificate', id: id!, spec: { certificates: certPem, private_key: keyPem } },
      ]);
      assert.deepEqual(same.changes, []);
      return { id: id! };
    }
  });

  test('an export has pages, which together are the whole, and refuses a foreign cursor', async () => {
    const { apply, ask, read } = await openOrganisation();
    await apply(Array.from({ length: 7 }, (_none, at) => createPolicy(`p${at}`)));
    const found: SentObject[] = [];
    let after = '';
    do {
      const { body } = await ask('GET', `/api/configuration?size=3&after=${encodeURIComponent(after)}`);
      assert.ok(body.objects.length <= 3);
      found.push(...body.objects);
      after = body.next ?? '';
    } while (after !== '');
    assert.deepEqual(found, await read());
    assert.equal((await ask('GET', '/api/configuration?after=none:x')).status, 400);
    assert.equal((await ask('GET', '/api/configuration?after=x')).status, 400);
    assert.equal((await ask('GET', '/api/configuration?kinds=keys')).status, 400);
  });

  test('every fault of every object is reported, and one fault changes nothing', async () => {
    const { run, read } = await openOrganisation();
    const id = createPublicId();
    const sent = [
      createApi(id),
      createApi(`${id}b`, { proxy: { listen_path: 7 }, nme: 'x' }),
      createPolicy('good'),
      createPolicy('bad', { rate: 'fast', smoothing: { enabled: true, step: 0 } }),
      { kind: 'user', id: 'Ann@example.org', spec: { first_name: '', last_name: 'x', user_permissions: { a: 'b' } } },
    ];
    for (const action of ['plan', 'apply'] as const) {
      const { status, body } = await run(action, sent);
      assert.equal(status, 400);
      const faults = faultsOf(body).join('\n');
      for (const expected of [
        new RegExp(`^${id}b spec\\.definition\\.nme: `, 'm'),
        new RegExp(`^${id}b spec\\.definition\\.proxy\\.listen_path: `, 'm'),
        /^bad spec\.rate: /m,
        /^bad spec\.smoothing\.step: /m,
        /^Ann@example\.org spec\.first_name: /m,
      ])
        assert.match(faults, expected);
      assert.match(body.Message, /^Nothing was changed: /);
    }
    assert.deepEqual((await read('api,policy')).length, 0);
  });

  test('faults that only the stored objects show undo the whole set', async () => {
    const { run, apply, read } = await openOrganisation();
    const [first, second] = [createPublicId(), createPublicId()];
    await apply([createApi(first)]);
    const { status, body } = await run('apply', [
      createPolicy('p'),
      createApi(second, {}, `/${first}/`),
      createHook('h'),
    ]);
    assert.equal(status, 400);
    assert.match(faultsOf(body).join(), new RegExp(`^${second} : Another API already has the listen path`));
    assert.deepEqual(
      (await read('api,policy,webhook')).map(({ id }) => id),
      [first],
    );
  });

  test('routes move along a chain, and to APIs that are created, in one apply', async () => {
    const { apply, read } = await openOrganisation();
    const [a, b, c] = [createPublicId(), createPublicId(), createPublicId()];
    await apply([createApi(a), createApi(b)]);
    const { traffic } = await apply([
      createApi(a, {}, `/${b}/`),
      createApi(b, {}, `/${c}/`),
      createApi(c, {}, `/${a}/`),
    ]);
    assert.equal(traffic.routes.length, 3);
    const routes = (await read('api')).map(({ id, spec }) => [
      id,
      (spec.definition as { proxy: { listen_path: string } }).proxy.listen_path,
    ]);
    assert.deepEqual(Object.fromEntries(routes), { [a]: `/${b}/`, [b]: `/${c}/`, [c]: `/${a}/` });
  });

  test('APIs exchange listen paths, and policies names, in one apply; what another object keeps is not free', async () => {
    const { apply, read, run } = await openOrganisation();
    const [a, b, c] = [createPublicId(), createPublicId(), createPublicId()];
    const names = (order: readonly string[]) => order.map((name, at) => createPolicy([a, b, c][at]!, { name }));
    await apply([createApi(a), createApi(b), createApi(c), ...names(['one', 'two', 'three'])]);
    const moved = [createApi(a, {}, `/${b}/`), createApi(b, {}, `/${a}/`), ...names(['two', 'three', 'one'])];
    const { traffic, changes } = await apply(moved);
    assert.deepEqual([traffic.routes.length, changes.length], [2, 5]);
    assert.deepEqual((await run('plan', moved)).body.Meta.changes, []);
    assert.deepEqual(
      (await read('policy')).map(({ id, spec }) => [id, spec.name]).sort(),
      [
        [a, 'two'],
        [b, 'three'],
        [c, 'one'],
      ].sort(),
    );
    const before = await read();
    const taken = await run('apply', [createApi(a, {}, `/${c}/`), createApi(b, {}, `/${b}/`)]);
    assert.match(faultsOf(taken.body).join(), new RegExp(`^${a} : Another API already has the listen path`));
    const named = await run('apply', [createPolicy(a, { name: 'one' }), createPolicy(b, { name: 'two' })]);
    assert.match(faultsOf(named.body).join(), new RegExp(`^${a} : .*one already exists`));
    assert.deepEqual(await read(), before);
  });

  test('prune deletes the other objects of its kinds, never the caller, and policies follow deleted APIs', async () => {
    const { apply, read, addUser } = await openOrganisation();
    const [kept, gone] = [createPublicId(), createPublicId()];
    const rights = { [kept]: { versions: [] }, [gone]: { versions: [] } };
    const policy = createPolicy('p', { access_rights: rights });
    await apply([createApi(kept), createApi(gone), policy, createPolicy('other'), createHook('h')]);
    await addUser({ apis: 'read' });
    const { changes, notices } = await apply([createApi(kept), policy], ['api', 'policy', 'user']);
    assert.deepEqual(changes.map(({ action, kind }: { action: string; kind: string }) => `${action} ${kind}`).sort(), [
      'delete api',
      'delete policy',
      'delete user',
      'update policy',
    ]);
    assert.equal(notices.length, 1);
    assert.deepEqual(
      (await read()).map(({ kind }) => kind),
      ['user', 'webhook', 'api', 'policy'],
    );
    const [stored] = await read('policy');
    assert.deepEqual(Object.keys(stored!.spec.access_rights as object).sort(), [kept, gone].sort());
  });

  test('a plan counts the keys that it concerns, and changes nothing', async () => {
    const { apply, run, read, ask } = await openOrganisation();
    const api = createPublicId();
    const rights = { [api]: { api_id: api, versions: ['Default'] } };
    await apply([
      createApi(api, { use_keyless: false }),
      createPolicy('p', { access_rights: rights, rate: 5 }),
      createPolicy('q'),
    ]);
    for (const body of [{ apply_policies: ['p'] }, { access_rights: rights }]) {
      const { status, text } = await ask('POST', '/api/keys', body);
      assert.equal(status, 200, text);
    }
    const before = await read();
    const changedPolicy = [createPolicy('p', { access_rights: rights, rate: 6 })];
    const { body: policyPlan } = await run('plan', changedPolicy);
    assert.deepEqual([policyPlan.Meta.traffic.keys, policyPlan.Meta.traffic.policies], [1, ['p']]);
    const { body: deletion } = await run('plan', [], ['api']);
    assert.deepEqual([deletion.Meta.traffic.keys, deletion.Meta.traffic.apis], [2, 1]);
    assert.deepEqual(await read(), before);
  });

  test('masked secrets stay, sent ones replace them, and a mask without a stored secret is refused', async () => {
    const { apply, run, read, ask } = await openOrganisation();
    const api = createPublicId();
    const secret = { use_keyless: false, auth: { signature: { secret: 'first' } } };
    await apply([createApi(api, secret), createHook('h', { 'x-token': 'one' })]);
    const readSecret = async () =>
      (await ask('GET', `/api/apis/${api}`)).body.api_definition.auth.signature.secret as string;
    const exported = await read('api,webhook');
    assert.equal(JSON.stringify(exported).match(/\*{8}/g)!.length, 2);
    assert.ok(exported.every(it => (it as { secrets?: unknown[] }).secrets?.length === 1));
    const renamed = exported.map(it =>
      it.kind === 'api'
        ? { ...it, spec: { ...it.spec, definition: { ...(it.spec.definition as object), name: 'New' } } }
        : it,
    );
    const { changes } = await apply(renamed);
    assert.deepEqual(changes[0].members, [{ path: 'spec.definition.name', before: `Name of ${api}`, after: 'New' }]);
    assert.equal(await readSecret(), 'first');
    const replaced = await apply([createApi(api, { ...secret, auth: { signature: { secret: 'second' } } })]);
    assert.ok(!JSON.stringify(replaced).includes('second'));
    assert.equal(await readSecret(), 'second');
    const masked = { auth: { signature: { secret: redactedText } } };
    const { body } = await run('apply', [createApi(`${api}b`, masked), createHook('i', { 'x-token': redactedText })]);
    assert.match(
      faultsOf(body).join('\n'),
      new RegExp(`^${api}b spec\\.definition\\.auth\\.signature\\.secret: `, 'm'),
    );
    assert.match(faultsOf(body).join('\n'), /^i spec\.header_map\.x-token: /m);
  });

  test('each kind requires its own permissions, and a reader learns no secret from a plan', async () => {
    const { apply, run, read, addUser } = await openOrganisation();
    const api = createPublicId();
    await apply([createApi(api, { auth: { signature: { secret: 'guess' } } }), createPolicy('p')]);
    const reader = await addUser({ apis: 'read' });
    const exported = await read('api', reader.credential);
    assert.deepEqual(exported, await read('api'));
    assert.equal((await run('plan', exported, [], reader.credential)).status, 200, 'nothing changes');
    for (const secret of ['guess', 'other']) {
      const guess = [createApi(api, { auth: { signature: { secret } } })];
      const { status, body } = await run('plan', guess, [], reader.credential);
      assert.deepEqual([status, faultsOf(body)], [400, [`${api} : access denied: you need apis:write`]]);
    }
    const foreign = await run('plan', [createPolicy('p')], [], reader.credential);
    assert.deepEqual(faultsOf(foreign.body), ['p : access denied: you need policies:read']);
    const pruned = await run('apply', [], ['api'], reader.credential);
    assert.match(faultsOf(pruned.body).join(), /access denied: you need apis:write/);
    const writer = await addUser({ apis: 'write' });
    assert.equal((await run('apply', [createApi(createPublicId())], [], writer.credential)).status, 200);
    const escalation = {
      kind: 'user',
      id: writer.email,
      spec: { first_name: 'A', last_name: 'B', user_permissions: { IsAdmin: 'admin' } },
    };
    const granting = await addUser({ users: 'write' });
    const refused = await run('apply', [escalation], [], granting.credential);
    assert.equal(refused.status, 400);
    assert.match(faultsOf(refused.body).join(), /administrator/i);
  });

  test('APIs of other owners are neither exported, changed nor pruned', async () => {
    const { apply, run, read, addUser } = await openOrganisation();
    const [owned, open] = [createPublicId(), createPublicId()];
    const [owner, other] = [
      await addUser({ apis: 'write', policies: 'write' }),
      await addUser({ apis: 'write', policies: 'write' }),
    ];
    const ownedApi = createApi(owned);
    await apply([{ ...ownedApi, spec: { ...ownedApi.spec, user_owners: [owner.email] } }, createApi(open)]);
    assert.deepEqual((await read('api')).find(({ id }) => id === owned)!.spec.user_owners, [owner.email]);
    assert.deepEqual(
      (await read('api', other.credential)).map(({ id }) => id),
      [open],
    );
    assert.equal((await run('apply', [createApi(owned)], [], other.credential)).status, 400);
    assert.equal((await run('apply', [], ['api'], other.credential)).status, 200);
    assert.deepEqual(
      (await read('api')).map(({ id }) => id),
      [owned],
    );
  });

  test('rules of the organisation apply to each object as to its single operation', async () => {
    const { run, ask, read } = await openOrganisation();
    const rules = `package org
      deny contains "no hooks on Sunday" if { input.request.operation == "createHook"; input.request.body.name == "sunday" }`;
    assert.equal((await ask('PUT', '/api/org/opa', { open_policy: { enabled: true, rules } })).status, 200);
    const sunday = { ...createHook('s'), spec: { ...createHook('s').spec, name: 'sunday' } };
    const { status, body } = await run('apply', [createHook('h'), sunday]);
    assert.deepEqual([status, faultsOf(body)], [400, ['s : access denied: no hooks on Sunday']]);
    assert.deepEqual(await read('webhook'), []);
  });

  test('ids of other organisations are refused, and their objects stay', async () => {
    const [one, two] = [await openOrganisation(), await openOrganisation()];
    const api = createPublicId();
    await one.apply([createApi(api)]);
    const before = await one.read('api');
    const { status, body } = await two.run('apply', [createApi(api, {}, `/${api}/two/`)]);
    assert.equal(status, 400);
    assert.match(faultsOf(body).join(), /same ID/);
    await two.apply([], ['api', 'policy', 'webhook', 'certificate', 'template']);
    assert.deepEqual(await one.read('api'), before);
  });

  test('an object that is sent twice, and an API in the other format, are refused', async () => {
    const { run, apply } = await openOrganisation();
    const api = createPublicId();
    const twice = await run('plan', [createPolicy('p'), createPolicy('p')]);
    assert.deepEqual(faultsOf(twice.body), ['p id: another object of this kind has it']);
    await apply([createApi(api)]);
    const document = {
      openapi: '3.0.3',
      info: { title: 'x', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { name: 'x', state: { active: true } },
        upstream: { url: 'http://127.0.0.1:9/' },
        server: { listenPath: { value: `/${api}/` } },
      },
    };
    const other = await run('plan', [{ kind: 'api', id: api, spec: { format: 'oas', definition: document } }]);
    assert.match(faultsOf(other.body).join(), /other format/);
  });
});
