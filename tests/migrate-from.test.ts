import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { runMigrateCommand } from '#cli/migrate/migrate-command.ts';
import { makeTykSamples } from './migrate/tyk-samples.ts';
import { startApp, type TestApp } from './support/app.ts';
import { makeCertificate } from './support/certificates.ts';
import { openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Row {
  readonly kind: string;
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly source: string;
}

interface Report {
  readonly served: readonly Row[];
  readonly notServed: readonly Row[];
  readonly different: readonly Row[];
  readonly text: string;
}

describe('gw migrate-from', () => {
  let app: TestApp;
  let upstream: Upstream;
  const folder = mkdtempSync(join(tmpdir(), 'gw-migrate-'));
  let directories = 0;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await Promise.all([app?.close(), upstream?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  function writeFiles(files: Readonly<Record<string, unknown>>): string {
    directories += 1;
    const directory = join(folder, String(directories));
    for (const [path, content] of Object.entries(files)) {
      const file = join(directory, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    }
    return directory;
  }

  async function run(args: readonly string[]): Promise<string> {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    const environment = { GW_DATA_DIR: app.directory };
    try {
      await runMigrateCommand(args, { environment, print });
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'cli.partly_migrated') throw error;
    }
    return printed;
  }

  async function migrate(product: string, path: string, ...flags: string[]): Promise<Report> {
    const text = await run([product, path, '-o', 'json', ...flags]);
    return { ...JSON.parse(text), text };
  }

  const ownOrg = () => ['--org', app.credentials.organisation_id];
  const readRevision = async () => (await app.ask('GET', '/gw/status')).body.revision as number;

  test('hundreds of exports in odd notations are served or listed, and a second run changes nothing', async () => {
    const samples = makeTykSamples(310);
    const directory = writeFiles(Object.fromEntries(samples.map(({ path, text }) => [path, text])));
    const report = await migrate('tyk', directory, ...ownOrg());
    for (const { path, expected } of samples)
      for (const { kind, id, reason, different = [] } of expected) {
        const isRow = (row: Row) => row.kind === kind && row.id === id && row.source.startsWith(path);
        const rows = (reason ? report.notServed : report.served).filter(isRow);
        const other = (reason ? report.served : report.notServed).filter(isRow);
        assert.ok(rows.length > 0, `${path}: ${kind} ${id} is missing; ${JSON.stringify(other)}`);
        if (reason)
          assert.ok(
            rows.some(row => reason.test(row.reason)),
            `${path}: ${JSON.stringify(rows)}`,
          );
        for (const pattern of different)
          assert.ok(
            report.different.some(row => isRow(row) && pattern.test(row.reason)),
            `${path}: ${pattern} in ${JSON.stringify(report.different.filter(isRow))}`,
          );
      }
    assert.ok(!report.text.includes('hidden-in-a-broken-file'), 'texts of broken files are not printed');
    const revision = await readRevision();
    const again = await migrate('tyk', directory, ...ownOrg());
    assert.equal(await readRevision(), revision);
    assert.deepEqual(
      again.served.filter(({ state }) => state !== 'present'),
      [],
    );
    assert.equal(again.served.length, report.served.length);
    assert.equal(again.notServed.length, report.notServed.length);
  });

  test('an installation is moved with its organisation, policy, keys, client and certificate, and serves its clients', async () => {
    const org_id = '5e9d9544a1dcd60001d0ed20';
    const api_id = 'moved-shop';
    const { certPem, keyPem } = await makeCertificate({ cn: 'shop.example' });
    const key = `${org_id}0123456789abcdef0123456789abcdef`;
    const definition = {
      ...openApi(upstream, {
        use_keyless: false,
        use_oauth2: false,
        use_standard_auth: true,
        auth_configs: { authToken: { auth_header_name: 'X-Tyk-Key' } },
      }),
      api_id,
      org_id,
      name: 'Shop',
    };
    const oauth = {
      ...openApi(upstream, {
        use_keyless: false,
        use_oauth2: true,
        oauth_meta: { allowed_access_types: ['client_credentials'] },
      }),
      api_id: 'moved-oauth',
      org_id,
      name: 'OAuth',
      proxy: { listen_path: '/moved-oauth/', target_url: upstream.url },
    };
    const access_rights = { [api_id]: { api_id, api_name: 'Shop', versions: ['Default'] } };
    const policies = {
      gold: {
        id: 'gold',
        name: 'Gold',
        org_id,
        active: true,
        state: 'active',
        rate: 7,
        per: 1,
        quota_max: -1,
        access_rights,
      },
    };
    const session = {
      org_id,
      apply_policies: ['gold'],
      allowance: 7,
      rate: 7,
      per: 1,
      quota_max: -1,
      access_rights,
      meta_data: { who: '$tyk_free' },
    };
    const directory = writeFiles({
      'organisation.json': { id: org_id, owner_name: 'Moved' },
      'apps/shop.json': definition,
      'apps/oauth.json': oauth,
      'policies/policies.json': policies,
      [`keys/${key}.json`]: session,
      'keys/hashed.json': { key_hash: 'abcdef0123456789', data: session },
      'keys/users.json': {
        ann: { ...session, basic_auth_data: { password: '$2a$10$hash-of-a-password', hash_type: 'bcrypt' } },
        token: { ...session, oauth_client_id: 'app' },
      },
      'oauth/moved-oauth/clients.json': [
        { client_id: 'app', secret: 'hidden-secret', redirect_uri: 'https://app.example/', policy_id: '' },
      ],
      'certs/shop.pem': `${certPem}\n${keyPem}`,
    });
    // A tenant may use public upstreams only, unless it is granted others.
    let preview = '';
    const dryRun = runMigrateCommand(['tyk', directory, '--dry-run'], {
      environment: { GW_DATA_DIR: app.directory },
      print: text => {
        preview += text;
      },
    });
    await assert.rejects(dryRun, /^Problem: 3 objects are not moved or not served: see the table$/);
    assert.match(preview, /^To be moved \(6\)/);
    assert.equal((await app.ask('GET', `/gw/apis/${api_id}`)).status, 404, 'a dry run writes nothing');
    const { body: imported } = await app.ask('POST', '/admin/organisations/import', {
      body: { id: org_id, owner_name: 'Moved' },
    });
    assert.equal(imported.Status, 'OK');
    const { served, notServed, text } = await migrate('tyk', directory);
    assert.deepEqual(
      served.map(({ kind, state }) => `${kind} ${state}`).sort(),
      ['API added', 'API added', 'OAuth client added', 'certificate added', 'key added', 'policy added'],
      text,
    );
    assert.deepEqual(notServed.map(({ kind, reason }) => `${kind}: ${reason}`).sort(), [
      'key: not moved: access tokens are not moved: clients request new ones',
      'key: not moved: only its hash is in the export: create a new key',
      'key: not moved: password hashes cannot be imported: create the user with a password',
    ]);
    assert.ok(!text.includes(key) && !text.includes('hidden-secret'), 'no credentials in the table');
    await waitUntilApplied(app);
    const headers = { 'X-Tyk-Key': key };
    assert.equal((await app.ask('GET', `/gw/keys/${key}`)).body.meta_data.who, '$tyk_free', 'metadata stays as it is');
    const url = app.url.gateway + definition.proxy.listen_path;
    assert.equal((await fetch(url, { headers })).status, 200);
    assert.equal((await fetch(url, { headers: { 'X-Tyk-Key': `${key}0` } })).status, 403);
    const revision = await readRevision();
    const again = await migrate('tyk', directory);
    assert.deepEqual([...new Set(again.served.map(({ state }) => state))], ['present']);
    assert.equal(await readRevision(), revision);
  });

  test('names of the product are renamed where the gateway reads them', async () => {
    const definition = {
      api_id: 'renamed',
      name: 'Renamed',
      use_keyless: true,
      enable_context_vars: true,
      proxy: { listen_path: '/renamed/', target_url: upstream.url, strip_listen_path: true },
      config_data: { kept: '$tyk_context.x' },
      cache_options: { enable_cache: true, cache_timeout: 5, cache_control_ttl_header: 'x-tyk-cache-action-set-ttl' },
      CORS: { enable: true, allowed_origins: ['*'], exposed_headers: ['X-Tyk-Cached-Response', 'X-Tyk-Mine'] },
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', global_headers: { 'x-path': '$tyk_context.path' } } },
      },
    };
    await migrate('tyk', writeFiles({ 'api.json': definition }), ...ownOrg());
    const { body } = await app.ask('GET', '/gw/apis/renamed');
    assert.equal(body.version_data.versions.Default.global_headers['x-path'], '$gw_context.path');
    assert.deepEqual(body.CORS.exposed_headers, ['X-Gw-Cached-Response', 'X-Tyk-Mine']);
    assert.equal(body.cache_options.cache_control_ttl_header, 'x-tyk-cache-action-set-ttl');
    assert.deepEqual(body.config_data, { kept: '$tyk_context.x' });
  });

  test('unknown products, missing paths and unreadable ones are errors, and write nothing', async () => {
    const revision = await readRevision();
    await assert.rejects(
      run(['apigee', folder]),
      /gw migrate-from has no action apigee: it has tyk, kong, krakend, nginx/,
    );
    await assert.rejects(run(['tyk']), /tyk needs a directory or a file/);
    await assert.rejects(run(['tyk', join(folder, 'absent')]), /absent cannot be read \(ENOENT\)/);
    assert.match(await run(['--help']), /^gw migrate-from: .*--dry-run/s);
    assert.equal(await readRevision(), revision);
  });
});
