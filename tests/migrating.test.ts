import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { readSettings, type SettingName, settingNames, toEnvironmentName } from '#base/settings.ts';
import { catalogue } from '../src/catalogue.ts';
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

/** Names of the client commands, of secrets and of variables in configuration files: no settings. */
const otherVariables = /^GW_(URL|SECRET|ACCESS_KEY|SECRET_|VAR_)$/;

describe('Migration guide', () => {
  const guide = readFileSync(new URL('../docs/guide/migrating.md', import.meta.url), 'utf8');
  const sections = guide.split(/^## /m);
  /** Rows of the three tables of settings, without their heads. */
  const rows = sections
    .filter(section => /^(Environment variables|Settings of the )/.test(section))
    .flatMap(section => section.split('\n').filter(line => /^\| [^|]+\|[^|]+\|[^|]*\|$/.test(line)))
    .map(line => line.split('|').map(cell => cell.trim()))
    .filter(([, there]) => there !== 'There');
  const isKnown = (name: string) => settingNames.includes(name as SettingName);

  test('every row names a setting here, or why there is none', () => {
    assert.ok(rows.length > 110, String(rows.length));
    for (const [, there, here] of rows)
      assert.match(here!, /^(`[a-z0-9_.]+[:`]|`GW_|always$|not needed$|not available yet$)/, there!);
  });

  test('every setting it names exists', () => {
    for (const [, there, here] of rows)
      for (const [, name] of here!.matchAll(/`([a-z_]+(?:\.[a-z0-9_]+)+|master_key)(?:: [a-z0-9_]+)?`/g))
        assert.ok(isKnown(name!), `${there}: ${name}`);
    const prefixes = [...new Set(settingNames.filter(name => name.includes('.')).map(name => name.split('.')[0]))];
    const named = new RegExp(`\`((?:${prefixes.join('|')})\\.[a-z_.0-9]+)`, 'g');
    // The first cell of a row has names of the other product.
    for (const [, name] of guide.replaceAll(/^\|[^|]*\|/gm, '').matchAll(named)) assert.ok(isKnown(name!), name!);
  });

  test('every block of settings is accepted', t => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-migrating-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const path = join(directory, 'gw.yaml');
    const blocks = [...guide.matchAll(/(?:^ {4}.*\n)+/gm)].map(([block]) => block.replaceAll(/^ {4}/gm, ''));
    const settings = blocks.filter(block => /^[a-z]+:\n/.test(block));
    assert.ok(settings.length >= 3, String(settings.length));
    for (const block of settings) {
      writeFileSync(path, block);
      assert.doesNotThrow(() => readSettings({ file: { path, required: true } }), block);
    }
  });

  test('every operation that it says is the same or another exists', () => {
    const section = sections.find(it => it.startsWith('Operations of the dashboard API'))!;
    const [table = ''] = section.split('Where the contract is silent');
    const toRoute = (route: string) => route.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '{}');
    const routes = new Set(catalogue.map(({ method, path }) => toRoute(`${method} ${path}`)));
    const rows = table.split('\n').filter(line => /^\| .*\|$/.test(line) && !line.startsWith('| There'));
    assert.ok(rows.length >= 9, String(rows.length));
    for (const row of rows) {
      const [, there = '', here = ''] = row.split('|');
      const named = (/^ the same/.test(here) ? there : '') + here;
      for (const [, route] of named.matchAll(/`((?:GET|POST|DELETE) \/[^`]+)`/g))
        assert.ok(routes.has(toRoute(route!)), route!);
    }
  });

  test('every environment variable it names exists', () => {
    const variables = new Set(settingNames.map(toEnvironmentName));
    const found = [...guide.matchAll(/(?<!\w)GW_[A-Z0-9_]+/g)].map(([name]) => name);
    assert.ok(found.length > 15, String(found.length));
    for (const name of found) assert.ok(variables.has(name) || otherVariables.test(name), name);
  });
});
