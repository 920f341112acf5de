import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Person } from '../support/browser.ts';
import { makeAuthority } from '../support/certificates.ts';
import { assertAccessible, testDashboard } from '../support/dashboard-app.ts';
import { mint, type Publisher, rsaPair, startPublisher } from '../support/tokens.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

const admin = { user_permissions: { IsAdmin: 'admin' } };
const hostile = '<img src=x onerror=alert(1)>';

describe('System pages', () => {
  const dashboard = testDashboard({ settings: { 'uptime.interval_ms': '60' } });
  let person: Person;
  let upstream: Upstream;
  let publisher: Publisher;
  before(async () => {
    [upstream, publisher] = [await startUpstream(), await startPublisher()];
    person = await dashboard.addPerson(admin);
  });
  after(async () => {
    await upstream?.close();
    await publisher?.close();
  });

  test('the status page lists this process in step, and diagnostics without secrets are copied', async () => {
    const page = await dashboard.openAs(person, '/system');
    await page.getByRole('cell', { name: 'In step' }).waitFor();
    for (const [title, cell] of [
      ['Requests per second', /^[\d.,]+$/],
      ['Event loop delay', /^[\d.,]+ m?s$/],
      ['Stores', /^Database [\d.,]+ m?s$/],
      ['Clock skew', /^−?[\d.,]+ ms$/],
    ] as const) {
      await page.getByRole('columnheader', { name: title }).waitFor();
      await page.getByRole('cell', { name: cell }).first().waitFor();
    }
    await page.getByText('Nothing needs attention').waitFor();
    await page.getByRole('button', { name: 'Copy diagnostics' }).click();
    await page.getByText('Diagnostics copied').waitFor();
    const copied = String(await page.evaluate('navigator.clipboard.readText()'));
    const { nodes } = JSON.parse(copied);
    assert.equal(nodes.nodes[0].pid, process.pid);
    const { credentials } = dashboard.app();
    for (const secret of Object.values(credentials)) assert.ok(!copied.includes(String(secret)));
    await page.getByRole('button', { name: 'Reload', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Reload the configuration?' });
    await dialog.getByRole('button', { name: 'Reload configuration' }).click();
    await page.getByText('The configuration is live on 1 of 1 process').waitFor();
  });

  test('the status page lists queues and key sets, and finds settings by their name and meaning', async () => {
    const pair = rsaPair();
    const jwt = {
      use_keyless: false,
      enable_jwt: true,
      jwt_signing_method: 'rsa',
      jwt_source: `${publisher.url}/gone`,
    };
    const url = await publish(dashboard.app(), openApi(upstream, jwt));
    await fetch(url, { headers: { authorization: `Bearer ${mint({ sub: 'ann' }, pair.privateKey)}` } });
    await eventually(async () => {
      const { body } = await dashboard.app().ask('GET', '/api/system/nodes');
      assert.equal(body.data.nodes[0].key_sets.length, 1);
    });
    const page = await dashboard.openAs(person, '/system');
    const queues = page.getByRole('region', { name: 'Queues' });
    for (const name of ['Webhook deliveries', 'Mails of the portal', /^Analytics of /])
      await queues.getByRole('cell', { name }).waitFor();
    const keySets = page.getByRole('region', { name: 'Key sets (JWKS)' });
    await keySets.getByText(`${publisher.url}/gone responded with status 503`).waitFor();
    const settings = page.getByRole('region', { name: 'Settings of this process' });
    const search = page.getByLabel('Search settings by name or meaning');
    const retention = settings.getByText('audit.retention_days', { exact: true });
    await search.fill('retention_days');
    await retention.waitFor();
    await search.fill('uptime.interval');
    await retention.waitFor({ state: 'detached' });
    await settings.getByRole('row').filter({ hasText: 'uptime.interval_ms' }).filter({ hasText: 'Flag' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('q'), 'uptime.interval');
    await page.getByLabel('Values').selectOption('Other than the default');
    await page.waitForURL(/changed=only/);
    await settings.getByText('uptime.interval_ms', { exact: true }).waitFor();
    await assertAccessible(page, 'queues, key sets and settings');
    await search.fill('no such setting');
    await page.getByRole('heading', { name: 'No match' }).waitFor();
  });

  test('the status page lists the certificates that APIs use, and those that are missing', async () => {
    const { ask } = dashboard.app();
    const upload = async (cn: string) => (await ask('POST', '/api/certs', { body: makeAuthority(cn).certPem })).body.id;
    const [used, removed] = [await upload('Partner authority'), await upload('Removed authority')];
    for (const id of [used, removed]) {
      const { proxy, ...rest } = openApi(upstream);
      await publish(dashboard.app(), { ...rest, proxy: { ...proxy, transport: { ssl_ca_certificates: [id] } } });
    }
    assert.equal((await ask('DELETE', `/api/certs/${removed}?force=true`)).status, 200);
    await eventually(async () => {
      const [node] = (await ask('GET', '/api/system/nodes')).body.data.nodes;
      assert.equal(node.certificates[0].state, 'failed');
    });
    const page = await dashboard.openAs(person, '/system');
    const rows = page.getByRole('region', { name: 'Certificates in use' }).getByRole('row');
    await rows.filter({ hasText: 'Not loaded' }).getByText('not in the certificate store').waitFor();
    await rows.filter({ hasText: 'In use' }).getByRole('link', { name: 'Partner authority' }).click();
    await page.getByRole('heading', { level: 1, name: 'Partner authority' }).waitFor();
  });

  test('audit filters combine in the address, a record opens by its link, and markup in it is text', async () => {
    const { ask } = dashboard.app();
    await ask('POST', '/api/assets', { body: { id: 'audited', name: hostile, data: {} } });
    await ask('DELETE', `/api/assets/${encodeURIComponent(hostile)}`);
    const page = await dashboard.openAs(person, '/audit?method=DELETE&status=404');
    await page.getByRole('button', { name: 'Delete asset' }).waitFor();
    assert.equal(await page.getByRole('row').count(), 2);
    await page.getByRole('cell', { name: hostile, exact: true }).waitFor();
    assert.equal(await page.locator('img').count(), 0);
    await page.getByRole('button', { name: 'Delete asset' }).click();
    await page.getByRole('dialog', { name: 'Audit record' }).getByText('Refused (404)').waitFor();
    const link = page.url();
    assert.ok(new URL(link).searchParams.has('open'));
    const other = await dashboard.openAs(person, new URL(link).pathname + new URL(link).search);
    const dialog = other.getByRole('dialog', { name: 'Audit record' });
    await dialog.getByText('Refused (404)').waitFor();
    await assertAccessible(other, 'audit record');
    await dialog.getByRole('button', { name: 'Records of this user' }).click();
    await other.waitForURL(/user=/);
    await other.keyboard.press('Escape');
    await other.getByLabel('Status code').fill('499');
    await other.getByRole('heading', { name: 'No match' }).waitFor();
    await ask('POST', '/api/assets', { body: { id: 'named', name: 'Name when created', data: {} } });
    const created = await dashboard.openAs(person, '/audit?action=createAsset');
    const named = created.getByRole('row').filter({ hasText: 'Name when created' });
    await named.getByRole('button', { name: 'Create asset' }).click();
    await created.getByRole('dialog', { name: 'Audit record' }).getByText('Name at that time').waitFor();
    await ask('DELETE', '/api/assets/named');
  });

  test('the exported files have every record of the filters, not only those of the page', async () => {
    const { ask } = dashboard.app();
    const count = 12;
    for (let n = 0; n < count; n++) await ask('DELETE', `/api/assets/exported-${n}`);
    const page = await dashboard.openAs(person, '/audit?method=DELETE&q=exported-');
    await page.getByText('Page 1 of 2').waitFor();
    const download = async (name: string) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
      return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')] as const;
    };
    const [csvName, csv] = await download('Export CSV');
    assert.deepEqual([csvName, csv.trim().split('\n').length], ['audit-logs.csv', count + 1]);
    const [jsonName, json] = await download('Export JSON');
    assert.equal(jsonName, 'audit-logs.json');
    assert.equal(json.match(/exported-\d+"/g)?.length, 2 * count, json.slice(0, 500));
  });

  test('the record of a changed policy opens the page of the policy', async () => {
    const { ask } = dashboard.app();
    const body = { id: 'recorded', name: 'Recorded', rate: 1, per: 1, access_rights: {} };
    await ask('POST', '/api/portal/policies', { body });
    const changed = await ask('PUT', '/api/portal/policies/recorded', { body: { ...body, rate: 2 } });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
    const page = await dashboard.openAs(person, '/audit?method=PUT&q=recorded');
    await page.getByRole('button', { name: 'Update policy' }).click();
    await page.getByRole('dialog', { name: 'Audit record' }).getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Recorded', level: 1 }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/policies/recorded');
  });

  test('a changed policy is listed with its user and a comparison without secrets, and a revert restores it', async () => {
    const { ask } = dashboard.app();
    const proxy = { listen_path: '/undone/', target_url: 'http://127.0.0.1:9' };
    await ask('POST', '/api/apis', { body: { api_definition: { api_id: 'undone-api', name: 'A', proxy } } });
    const access_rights = { 'undone-api': { api_id: 'undone-api', api_name: 'A', versions: ['Default'] } };
    const policy = { id: 'undone', name: 'Undone', rate: 7, per: 1, access_rights };
    await ask('POST', '/api/portal/policies', { body: policy });
    const page = await dashboard.openAs(person, '/policies/undone?tab=limits');
    await page.getByLabel('Requests', { exact: true }).fill('9');
    await page.getByRole('button', { name: 'Save policy' }).click();
    await page.getByText('Policy Undone saved').waitFor();
    const readRate = async () => (await ask('GET', '/api/portal/policies/undone')).body.rate;
    assert.equal(await readRate(), 9);
    await page.goto(`${dashboard.app().url.dashboard}/audit?method=PUT&q=undone`);
    await page.getByRole('button', { name: 'Update policy' }).click();
    const record = page.getByRole('dialog', { name: 'Audit record' });
    await record.getByText(person.username).waitFor();
    await record.getByText('/rate', { exact: true }).waitFor();
    await record.getByRole('button', { name: 'Revert' }).click();
    const confirmation = page.getByRole('alertdialog', { name: 'Revert this change?' });
    await confirmation.getByText('/rate', { exact: true }).waitFor();
    await assertAccessible(page, 'revert of a change');
    await confirmation.getByRole('button', { name: 'Revert the change' }).click();
    await page.getByText('Reverted to revision 1').waitFor();
    assert.equal(await readRate(), 7);
  });

  test('a template is created from an API without its ids, changed with its entity tag, and deleted after a tick', async () => {
    const { ask } = dashboard.app();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Source', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id: 'source', name: 'Source', state: { active: true } },
        server: { listenPath: { value: '/source/', strip: true } },
        upstream: { url: 'http://127.0.0.1:9' },
      },
    };
    await ask('POST', '/api/apis/oas?wait=applied', { body: document });
    const page = await dashboard.openAs(person, '/templates');
    await page.getByRole('link', { name: 'New template' }).first().click();
    await page.getByRole('checkbox', { name: 'Source' }).check();
    await page.getByText('"strip"').waitFor({ state: 'detached' });
    await page.getByText('"active"').waitFor();
    await page.getByRole('button', { name: 'Create template' }).click();
    await page.getByText('Enter a name').waitFor();
    await page.getByRole('textbox', { name: 'Name (required)' }).fill(hostile);
    await page.getByRole('button', { name: 'Create template' }).click();
    await page.getByRole('heading', { name: hostile, level: 1 }).waitFor();
    const { body: all } = await ask('GET', '/api/assets');
    const stored = all.find((it: { name: string; id: string }) => it.name === hostile && it.id !== 'audited');
    assert.deepEqual(stored.data['x-gw-api-gateway'].info, { state: { active: true } });
    await ask('PUT', `/api/assets/${stored.id}`, { body: { name: hostile, data: { changed: true } } });
    await page.getByLabel('Description').fill('Mine');
    await page.getByRole('button', { name: 'Save template' }).click();
    await page.getByText('was changed in the meantime').waitFor();
    await page.getByRole('button', { name: 'Discard mine and load the stored one' }).click();
    await page.getByText('"changed"').waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/templates`);
    await page
      .getByRole('button', { name: `Actions for ${hostile}` })
      .last()
      .click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    const confirm = page.getByRole('alertdialog').getByRole('button', { name: /^Delete template/ });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByRole('checkbox').check();
    await confirm.click();
    await page.getByText(/^Template .* deleted$/).waitFor();
  });

  test('without permission to write templates the form is read-only', async () => {
    const reader = await dashboard.addPerson({ user_permissions: { api_assets: 'read' } });
    const page = await dashboard.openAs(reader, '/templates/audited');
    await page.getByText('needs the permission api_assets:write').waitFor();
    assert.equal(await page.getByLabel('Name').isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Save template' }).count(), 0);
  });

  test('hosts without uptime tests: the page says what they are, and the list of examples names its setting', async () => {
    const page = await dashboard.openAs(person, '/uptime');
    await page.getByRole('heading', { name: 'No uptime tests in this time' }).waitFor();
    await page.goto(`${dashboard.app().url.dashboard}/examples`);
    await page.getByText('apis.examples_index').waitFor();
  });

  test('caches of a chosen API are purged after a confirmation', async () => {
    await publish(dashboard.app(), openApi(upstream, { api_id: 'cached', name: 'Cached' }));
    const page = await dashboard.openAs(person, '/system');
    await page.getByLabel('API', { exact: true }).click();
    await page.getByRole('option', { name: 'Cached' }).click();
    for (const [action, done] of [
      ['Purge cached responses', 'Cached responses purged'],
      ['Clear key sets', 'Key sets cleared'],
    ] as const) {
      await page.getByRole('button', { name: action }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: action }).click();
      await page.getByText(done, { exact: true }).waitFor();
      await page.getByRole('alertdialog').waitFor({ state: 'detached' });
    }
  });

  test('the configuration is exported as a file, and imported after a preview', async () => {
    const { ask } = dashboard.app();
    await ask('POST', '/api/portal/policies', { body: { id: 'carried', name: 'Carried', rate: 5, per: 60 } });
    const page = await dashboard.openAs(person, '/settings');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export configuration' }).click();
    const file = await saved;
    assert.match(file.suggestedFilename(), /^configuration-\w+\.json$/);
    const { objects } = JSON.parse(readFileSync(await file.path(), 'utf8'));
    const policy = objects.find((it: { id: string }) => it.id === 'carried');
    assert.equal(policy.spec.rate, 5);
    const choose = (content: string) =>
      page
        .getByLabel('File of an export')
        .setInputFiles({ name: 'a.json', mimeType: 'application/json', buffer: Buffer.from(content) });
    await choose('{}');
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByText(/The file is no export of a configuration/).waitFor();
    await choose(JSON.stringify({ objects: [{ ...policy, spec: { ...policy.spec, rate: 7 } }] }));
    await page.getByRole('button', { name: 'Preview import' }).click();
    await page.getByRole('cell', { name: 'carried', exact: true }).waitFor();
    assert.equal((await ask('GET', '/api/portal/policies/carried')).body.rate, 5);
    await assertAccessible(page, 'preview of an import');
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Import the configuration?' });
    await dialog.getByRole('button', { name: 'Import configuration' }).click();
    await page.getByText('Configuration imported: 0 created, 1 changed, 0 deleted').waitFor();
    assert.equal((await ask('GET', '/api/portal/policies/carried')).body.rate, 7);
    await ask('DELETE', '/api/portal/policies/carried');
  });

  test('the state in the address narrows the hosts of uptime tests', async () => {
    const uptime_tests = { check_list: [{ url: `${upstream.url}/health` }] };
    await publish(dashboard.app(), openApi(upstream, { api_id: 'tested', name: 'Tested', uptime_tests }));
    const page = await dashboard.openAs(person, '/uptime');
    const host = page.getByRole('button', { name: new URL(upstream.url).host });
    await eventually(async () => {
      await page.reload();
      await host.waitFor({ timeout: 2000 });
    });
    const row = page.getByRole('row').filter({ has: host });
    await row.getByRole('img', { name: /^\d+ checks?: \d+ failed, \d+ down$/ }).waitFor();
    assert.equal(await row.getByRole('cell', { name: /^[\d.]+ %$/ }).count(), 3);
    await page.getByLabel('State').selectOption('Down');
    await page.getByRole('heading', { name: 'No match' }).waitFor();
    assert.equal(new URL(page.url()).searchParams.get('state'), 'down');
    await page.getByLabel('State').selectOption('Up');
    await host.waitFor();
  });
});
