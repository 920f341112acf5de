import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type SettingName, settingNames } from '#base/settings.ts';
import { startApp } from './support/app.ts';
import { openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream } from './support/upstream.ts';

test('a migrated organisation, API, policy and key keep their ids, and clients are served unchanged', async t => {
  const [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  t.after(() => Promise.all([app.close(), upstream.close()]));
  const org_id = '5e9d9544a1dcd60001d0ed20';
  const ask = async (path: string, body: object) => {
    const reply = await app.ask('POST', path, { body });
    assert.equal(reply.status, 200, reply.text);
    return reply.body;
  };
  await ask('/admin/organisations/import', { id: org_id, owner_name: 'Moved' });
  const definition = {
    ...openApi(upstream, { use_keyless: false, use_standard_auth: true, auth_configs: { authToken: {} } }),
    id: '65f0c1d2a3b4c5d6e7f80910',
    org_id,
  };
  const { Errors } = await ask('/admin/apis/import', { apis: [{ api_definition: definition }] });
  assert.deepEqual(Errors, {});
  const access_rights = { [definition.api_id]: { api_id: definition.api_id, versions: ['Default'] } };
  const policy = { id: 'gold', name: 'Gold', org_id, access_rights, rate: 7, per: 1, state: 'active' };
  assert.deepEqual((await ask('/admin/policies/import', { Data: [policy] })).Meta, { gold: true });
  const key = `${org_id}0123456789abcdef0123456789abcdef`;
  assert.equal((await ask(`/gw/keys/${key}`, { org_id, apply_policies: ['gold'] })).key, key);
  await waitUntilApplied(app);
  const url = app.url.gateway + definition.proxy.listen_path;
  assert.equal((await fetch(url, { headers: { authorization: key } })).status, 200);
  assert.equal((await fetch(url, { headers: { authorization: `${key}0` } })).status, 403);
  const { body } = await app.ask('GET', `/gw/apis/${definition.api_id}`);
  assert.deepEqual([body.id, body.org_id], [definition.id, org_id]);
});

test('the migration guide names only settings that exist, and no row is empty', () => {
  const guide = readFileSync(new URL('../docs/guide/migrating.md', import.meta.url), 'utf8');
  const rows = guide
    .split('\n')
    .filter(line => /^\| [^|]+\|[^|]+\|[^|]*\|$/.test(line))
    .map(line => line.split('|').map(cell => cell.trim()));
  const tables = rows.filter(([, , here]) => /^(`|always|not needed|not available yet)/.test(here!));
  assert.ok(tables.length > 80, String(tables.length));
  for (const [, there, here] of tables)
    for (const [, name] of here!.matchAll(/`([a-z_]+(?:\.[a-z_]+)+|master_key)`/g))
      assert.ok(settingNames.includes(name as SettingName), `${there}: ${name}`);
  for (const [, name] of guide.matchAll(
    /`((?:gateway|keys|limits|management|analytics|users|policies|apis|upstream)\.[a-z_.]+)`/g,
  ))
    assert.ok(settingNames.includes(name as SettingName), String(name));
});
