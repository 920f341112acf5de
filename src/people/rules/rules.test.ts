import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';

onEveryEngine('organisation rules', app => {
  const openOrganisation = async () => {
    const { orgId, accessKey } = await app().stranger();
    const ask = (method: string, path: string, body?: unknown, credential = accessKey) =>
      app().ask(method, path, { credential, ...(body === undefined ? {} : { body }) });
    const write = (rules: string, enabled = true) => ask('PUT', '/api/org/opa', { open_policy: { enabled, rules } });
    return { orgId, ask, write };
  };
  const hook = (name: string) => ({ name, method: 'POST', target_path: 'http://127.0.0.1:1/', header_map: {} });

  test('rules are empty and disabled at first, and are returned as written', async () => {
    const { ask, write } = await openOrganisation();
    assert.deepEqual((await ask('GET', '/api/org/opa')).body, { open_policy: { enabled: false, rules: '' } });
    const rules = 'package org\ndeny[x] { input.none; x := "none" }';
    const written = await write(rules);
    assert.deepEqual([written.status, written.body.Message], [200, 'OPA rules has been updated on org level']);
    assert.deepEqual((await ask('GET', '/api/org/opa')).body, { open_policy: { enabled: true, rules } });
    await ask('PUT', '/api/org/opa', { open_policy: { enabled: false } });
    assert.deepEqual((await ask('GET', '/api/org/opa')).body, { open_policy: { enabled: false, rules } });
  });

  test('deny refuses a request with its reasons, by user, method, path, query and body, and only there', async () => {
    const { ask, write } = await openOrganisation();
    const rules = `package org
      deny contains "no hooks on Sunday" if { input.request.operation == "createHook"; input.request.body.name == "sunday" }
      deny contains reason if {
        input.request.intent == "delete"
        startswith(input.request.path, "/api/hooks/")
        not endswith(input.user.email_address, "@trusted.example")
        reason := sprintf("%s may not delete", [input.user.email_address])
      }
      deny contains "pages only" if { input.request.query.p == "-1"; input.user.user_permissions.IsAdmin == "admin" }`;
    assert.equal((await write(rules)).status, 200);
    const refused = await ask('POST', '/api/hooks', hook('sunday'));
    assert.deepEqual([refused.status, refused.body.Message], [403, 'access denied: no hooks on Sunday']);
    const created = await ask('POST', '/api/hooks', hook('monday'));
    assert.equal(created.status, 200, created.text);
    const removed = await ask('DELETE', `/api/hooks/${created.body.ID}`);
    assert.equal(removed.status, 403);
    assert.match(removed.body.Message, /^access denied: s\w+@example\.org may not delete$/);
    assert.equal((await ask('GET', '/api/hooks?p=-1')).body.Message, 'access denied: pages only');
    assert.equal((await ask('GET', '/api/hooks')).body.hooks.length, 1);
    assert.equal((await app().ask('GET', '/api/hooks?p=-1')).status, 200);
    await ask('PUT', '/api/org/opa', { open_policy: { enabled: false } });
    assert.equal((await ask('DELETE', `/api/hooks/${created.body.ID}`)).status, 200);
  });

  test('allow must be true where it is defined', async () => {
    const { ask, write } = await openOrganisation();
    await write('package org\ndefault allow = false\nallow { input.request.method == "GET" }');
    assert.equal((await ask('GET', '/api/hooks')).status, 200);
    const refused = await ask('POST', '/api/hooks', hook('x'));
    assert.deepEqual(
      [refused.status, refused.body.Message],
      [403, 'access denied: the rules of the organisation do not allow it'],
    );
    await write('package org\nallow { input.request.method == "POST" }');
    assert.equal((await ask('GET', '/api/hooks')).status, 403);
  });

  test('administrators can replace rules that deny everything; other users can neither read nor write rules', async () => {
    const { orgId, ask, write } = await openOrganisation();
    await write('package org\ndeny = true');
    assert.equal(
      (await ask('GET', '/api/users/me')).body.Message,
      'access denied: denied by the rules of the organisation',
    );
    const person = { email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B', org_id: orgId };
    const user = { ...person, active: true, user_permissions: { system: 'write' } };
    const { body } = await app().ask('POST', '/admin/users', { body: user });
    assert.equal((await ask('GET', '/api/org/opa', undefined, body.Message)).status, 403);
    assert.equal((await ask('PUT', '/api/org/opa', { open_policy: { rules: '' } }, body.Message)).status, 403);
    assert.equal((await write('')).status, 200);
    assert.equal((await ask('GET', '/api/users/me')).status, 200);
  });

  test('rules that cannot be evaluated deny every request', async () => {
    const { ask, write } = await openOrganisation();
    const list = `[${Array.from({ length: 20 }, () => '1').join()}]`;
    const search = Array.from({ length: 8 }, (_, at) => `list[i${at}]`).join('; ');
    await write(`package org\nlist := ${list}\ndeny contains "x" if { ${search}; false }`);
    const answer = await ask('GET', '/api/hooks');
    assert.equal(answer.status, 503);
    assert.match(answer.body.Message, /^The rules of the organisation cannot be evaluated: more than \d+ steps$/);
    await write('package org\ndeny = {"a": 1}');
    assert.equal((await ask('GET', '/api/hooks')).status, 503);
    await write('package org\nallow = "yes"');
    assert.equal((await ask('GET', '/api/hooks')).status, 503);
  });

  test('invalid rules are refused with line and column on both surfaces, and change nothing', async () => {
    const { orgId, ask, write } = await openOrganisation();
    const rules = 'package org\ndeny contains "x" if { input.none }';
    await write(rules);
    const organisation = (await app().ask('GET', `/admin/organisations/${orgId}`)).body;
    for (const [text, message] of [
      ['package org\ndeny[x] { x := 1 + 1 }', 'open_policy.rules: line 2, column 18: unexpected +'],
      ['package org\nother { true }', 'open_policy.rules: must define deny or allow'],
    ] as const) {
      const own = await write(text);
      assert.deepEqual([own.status, own.body.Message], [400, message]);
      const body = { ...organisation, open_policy: { enabled: true, rules: text } };
      const byOperator = await app().ask('PUT', `/admin/organisations/${orgId}`, { body });
      assert.deepEqual([byOperator.status, byOperator.body.Message], [400, message]);
      const created = await app().ask('POST', '/admin/organisations', { body: { ...body, owner_name: 'X' } });
      assert.equal(created.status, 400);
    }
    assert.equal((await ask('GET', '/api/org/opa')).body.open_policy.rules, rules);
    assert.equal((await app().ask('PUT', `/admin/organisations/${orgId}`, { body: organisation })).status, 200);
  });

  test('secrets of a body are masked for rules', async () => {
    const { ask, write } = await openOrganisation();
    await write('package org\ndeny contains input.request.body.new_password if { true }');
    const me = (await app().ask('GET', '/api/users/me')).body.id;
    const answer = await ask('POST', `/api/users/${me}/actions/reset`, { new_password: 'planted password' });
    assert.deepEqual([answer.status, answer.body.Message], [403, 'access denied: ********']);
  });

  test('custom permissions replace those before, and can be granted and read by rules', async () => {
    const { ask, write } = await openOrganisation();
    assert.deepEqual((await ask('GET', '/api/org/permissions')).body, { additional_permissions: {} });
    const put = (additional_permissions: unknown) => ask('PUT', '/api/org/permissions', { additional_permissions });
    const set = await put({ hook_editor: 'Edits hooks', other: 'Other' });
    assert.deepEqual([set.status, set.body.Message], [200, 'Additional Permissions updated in org level']);
    const person = () => ({ email_address: `${createPublicId()}@example.org`, first_name: 'A', last_name: 'B' });
    const grant = (user_permissions: Record<string, string>) =>
      ask('POST', '/api/users', { ...person(), active: true, user_permissions });
    const user = await grant({ hooks: 'write', hook_editor: 'read' });
    assert.equal(user.status, 200, user.text);
    const unknown = await grant({ hook_editr: 'read' });
    assert.equal(unknown.body.Message, 'user_permissions.hook_editr: no such permission; did you mean hook_editor?');
    await write(`package org
      deny contains "only editors" if { input.request.intent == "write"; not is_editor }
      is_editor { input.user.user_permissions.hook_editor == {"read", "write"}[_] }`);
    const key = (await ask('GET', `/api/users/${user.body.Meta}`)).body.access_key;
    assert.equal((await ask('POST', '/api/hooks', hook('a'), key)).status, 200);
    assert.equal((await ask('POST', '/api/hooks', hook('b'))).body.Message, 'access denied: only editors');
    await write('');
    await put({ other: 'Other' });
    assert.deepEqual((await ask('GET', '/api/org/permissions')).body, { additional_permissions: { other: 'Other' } });
    const kept = (await ask('GET', `/api/users/${user.body.Meta}`)).body;
    assert.equal((await ask('PUT', `/api/users/${kept.id}`, { ...kept, first_name: 'Z' })).status, 200);
  });

  test('invalid custom permissions are refused on both surfaces', async () => {
    const { orgId, ask } = await openOrganisation();
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`p${at}`, 'P']));
    for (const [map, message] of [
      [{ apis: 'APIs' }, 'additional_permissions.apis: is the name of a built-in permission'],
      [{ IsAdmin: 'A' }, 'additional_permissions.IsAdmin: is the name of a built-in permission'],
      [{ 'a b': 'A' }, 'additional_permissions.a b: must be a letter, then up to 63 letters, digits, _ or -'],
      [many, 'additional_permissions: has more than 100 names'],
    ] as const) {
      const own = await ask('PUT', '/api/org/permissions', { additional_permissions: map });
      assert.deepEqual([own.status, own.body.Message], [400, message]);
      const byOperator = await app().ask('PUT', `/admin/organisations/${orgId}`, {
        body: { owner_name: 'S', additional_permissions: map },
      });
      assert.deepEqual([byOperator.status, byOperator.body.Message], [400, message]);
    }
  });
});
