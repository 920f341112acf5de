import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { checkOrganisationSettings } from './settings-check.ts';

onEveryEngine('settings of organisations', app => {
  const check = (next: object, before?: object) =>
    checkOrganisationSettings(app().application.installation.services.rules, 'org', next, before);
  const invalid = { open_policy: { rules: 'package org\nother { true }' } };
  const ask = (method: string, path: string, body?: object) =>
    app().ask(method, `/admin/organisations${path}`, body === undefined ? {} : { body });

  test('invalid rules and permissions are refused, and pass where the organisation has them already', async () => {
    await assert.rejects(check(invalid), /must define deny or allow/);
    await assert.rejects(check(invalid, { open_policy: { rules: 'package org\ndeny = true' } }), /must define/);
    await assert.rejects(check({ additional_permissions: { apis: 'A' } }), /built-in permission/);
    await check(invalid, invalid);
    await check({ additional_permissions: { apis: 'A' } }, { additional_permissions: { apis: 'A' } });
    await check({ open_policy: null, additional_permissions: null }, { additional_permissions: null });
    await check({ open_policy: { enabled: true, rules: '' } });
    await check({ open_policy: { rules: 'package org\ndeny = true' } });
  });

  test('an import with invalid settings and an empty owner name are refused', async () => {
    const body = { id: 'refused', owner_name: 'R' };
    assert.equal((await ask('POST', '/import', { ...body, ...invalid })).status, 400);
    for (const path of ['', '/import'])
      assert.equal((await ask('POST', path, { ...body, owner_name: '' })).status, 400);
    assert.equal((await ask('GET', '/refused')).status, 404);
  });

  test('the audit record of a change names the organisation, also where the change is refused', async () => {
    const { Meta: id } = (await ask('POST', '', { owner_name: 'Audited' })).body;
    assert.deepEqual(await readLastAudit(app()), ['createOrganisation', id, id, 200]);
    await ask('POST', '/import', { id: 'imported', owner_name: 'I' });
    assert.deepEqual(await readLastAudit(app()), ['importOrganisation', 'imported', 'imported', 200]);
    const form = { body: 'domain=audited.test', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    for (const [target, status] of [
      ['missing', 404],
      [id, 200],
    ] as const) {
      await app().ask('POST', `/admin/organisations/${target}/generate-portals`, form);
      assert.deepEqual(await readLastAudit(app()), ['generatePortals', target, target, status]);
      await ask('PUT', `/${target}/grants`, {});
      assert.deepEqual(await readLastAudit(app()), ['updateGrants', target, target, status]);
      await ask('PUT', `/${target}`, { owner_name: 'Renamed' });
      assert.deepEqual(await readLastAudit(app()), ['updateOrganisation', target, target, status]);
      await ask('DELETE', `/${target}`);
      assert.deepEqual(await readLastAudit(app()), ['deleteOrganisation', target, target, status]);
    }
  });

  test('a domain is free where another organisation has it disabled', async () => {
    await ask('POST', '', { owner_name: 'Disabled', cname: 'free.test', cname_enabled: false });
    const { Meta: id } = (await ask('POST', '', { owner_name: 'Portal' })).body;
    const form = { body: 'domain=free.test', headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    assert.equal((await app().ask('POST', `/admin/organisations/${id}/generate-portals`, form)).status, 200);
  });
});
