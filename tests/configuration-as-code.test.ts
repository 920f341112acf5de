import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { type EngineName, engines, rememberSecrets, startApp, type TestApp } from './support/app.ts';
import { makeCertificate } from './support/certificates.ts';
import { createDirectories, createGw, findVariables, readFiles } from './support/configuration.ts';
import { startCommand } from './support/gw-process.ts';
import { openApi, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const { fresh, remove } = createDirectories();
after(remove);

/** Values of secrets, which no file and no output may hold. */
const secrets = {
  header: `hook-${createPublicId()}`,
  upstream: `upstream-${createPublicId()}`,
  template: `template-${createPublicId()}`,
};
rememberSecrets(secrets);
const server = makeCertificate({ cn: 'server.example', dnsNames: ['server.example'] });
const client = makeCertificate({ cn: 'client' });

/** One object of every kind, and APIs in every format. */
async function buildUp(app: TestApp, upstream: Upstream) {
  const write = async (method: string, path: string, body: unknown, headers: Record<string, string> = {}) => {
    const reply = await app.ask(method, path, { body, headers });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`);
    return reply.body;
  };
  const group = (await write('POST', '/api/usergroups', { name: 'Team', user_permissions: { apis: 'write' } })).Meta;
  const user = { first_name: 'Ann', last_name: 'Other', active: true, user_permissions: { apis: 'read' } };
  const created = await write('POST', '/api/users', { ...user, email_address: 'ann@example.org', group_id: group });
  const hook = { name: 'Pager', method: 'POST', target_path: upstream.url, header_map: { 'x-token': secrets.header } };
  const hookId = (await write('POST', '/api/hooks', { ...hook, webhook_id: 'pager' })).ID;
  await write('POST', '/api/certs', server.certPem + server.keyPem);
  const clientId = (await write('POST', '/api/certs', client.certPem)).id;
  const authentication = { enabled: true, basicAuth: { enabled: true, username: 'gw', password: secrets.template } };
  await write('POST', '/api/assets', {
    id: 'base',
    name: 'Base',
    data: { 'x-gw-api-gateway': { upstream: { authentication } } },
  });
  const classic = openApi(upstream, {
    api_id: 'Orders',
    name: 'Orders #shop',
    proxy: { listen_path: '/orders/' },
    event_handlers: {
      events: { QuotaExceeded: [{ handler_name: 'eh_web_hook_handler', handler_meta: { id: hookId } }] },
    },
  });
  await write('POST', '/api/apis', {
    api_definition: classic,
    user_owners: [created.Meta],
    user_group_owners: [group],
  });
  const keyed = openApi(upstream, {
    api_id: 'keyed',
    name: 'Keyed',
    use_keyless: false,
    proxy: { listen_path: '/keyed/' },
  });
  await write('POST', '/api/apis', {
    api_definition: { ...keyed, use_standard_auth: true, auth: { auth_header_name: 'authorization' } },
  });
  const guarded = openApi(upstream, { api_id: 'guarded', name: 'Guarded', proxy: { listen_path: '/guarded/' } });
  await write('POST', '/api/apis', {
    api_definition: { ...guarded, use_mutual_tls_auth: true, client_certificates: [clientId] },
  });
  await write('POST', '/api/apis/oas', {
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'All' } } } } },
    'x-gw-api-gateway': {
      info: { id: 'pets', name: 'Pets', state: { active: true } },
      server: { listenPath: { value: '/pets/', strip: true } },
      upstream: {
        url: upstream.url,
        authentication: { enabled: true, basicAuth: { enabled: true, username: 'gw', password: secrets.upstream } },
      },
    },
  });
  await write('PUT', '/api/apis/oas/pets/categories', { categories: ['animals'] });
  const version = openApi(upstream, { api_id: 'pets-v2', name: 'Orders v2', proxy: { listen_path: '/orders2/' } });
  await write('POST', '/api/apis?base_api_id=Orders&base_api_version_name=v1&new_version_name=v2', {
    api_definition: version,
  });
  const rights = { keyed: { api_id: 'keyed', api_name: 'Keyed', versions: ['Default'] } };
  await write('POST', '/api/portal/policies', { id: 'gold', name: 'Gold', rate: 5, per: 60, access_rights: rights });
  await write('POST', '/api/portal/policies', { name: 'Without id', state: 'draft', access_rights: rights });
}

/** What clients of the APIs observe. */
async function observe(app: TestApp): Promise<unknown[]> {
  await waitUntilApplied(app);
  const paths = ['/orders/a', '/keyed/a', '/guarded/a', '/pets/pets', '/orders2/b', '/nothing'];
  const answers: unknown[] = [];
  for (const path of paths) {
    const reply = await fetch(app.url.gateway + path, {
      headers: { 'x-gw-version': path === '/orders/a' ? 'v2' : '' },
    });
    const text = await reply.text();
    const echo =
      reply.status === 200 ? (JSON.parse(text) as { url: string; headers: Record<string, string> }) : undefined;
    answers.push([path, reply.status, echo ? [echo.url, echo.headers.authorization] : text]);
  }
  return answers;
}

/** Environment with the secrets that the files of an export refer to. */
function supplySecrets(files: Record<string, string>): Record<string, string> {
  const findValue = (file: string, member: string) => {
    if (member === 'private_key') return server.keyPem;
    if (file.startsWith('webhooks/')) return secrets.header;
    return file.startsWith('templates/') ? secrets.template : secrets.upstream;
  };
  return Object.fromEntries(findVariables(files).map(({ file, name, member }) => [name, findValue(file, member)]));
}

for (const engine of engines) describe(`Configuration as code (${engine})`, () => declare(engine));

function declare(engine: EngineName): void {
  let [source, target]: TestApp[] = [];
  let upstream: Upstream;
  const [gwSource, gwTarget] = [createGw(() => source!), createGw(() => target!)];
  before(async () => {
    upstream = await startUpstream();
    [source, target] = [await startApp(engine), await startApp(engine)];
    await buildUp(source!, upstream);
  });
  after(async () => {
    await source?.close();
    await target?.close();
    await upstream?.close();
  });

  test('an export has a file for each object, no secret, and no difference from its own installation', async () => {
    const directory = fresh();
    const exported = await gwSource(['export', directory]);
    assert.deepEqual([exported.out, exported.code], ['14 written, 0 unchanged, 0 removed\n', 0]);
    assert.deepEqual(readdirSync(directory).sort(), [
      'apis',
      'certificates',
      'groups',
      'policies',
      'templates',
      'users',
      'webhooks',
    ]);
    const text = Object.values(readFiles(directory)).join('\n');
    for (const secret of [...Object.values(secrets), source!.credentials.admin_access_key, 'PRIVATE KEY', 'org_id'])
      assert.ok(!text.includes(secret), secret);
    assert.ok(!text.includes(source!.credentials.organisation_id), 'the organisation is not named');
    const diff = await gwSource(['diff', directory, '--prune']);
    assert.deepEqual([diff.out, diff.code], ['0 to create, 0 to update, 0 to delete, 14 unchanged\n', 0]);
    const again = await gwSource(['export', directory]);
    assert.equal(again.out, '0 written, 14 unchanged, 0 removed\n');
    const json = fresh();
    await gwSource(['export', json, '--format', 'json']);
    assert.equal((await gwSource(['diff', json])).code, 0);
  });

  test('an export applied to an empty installation serves the same traffic and exports the same', async () => {
    const directory = fresh();
    await gwSource(['export', directory]);
    const files = readFiles(directory);
    const refused = await gwTarget(['apply', directory]);
    assert.equal(refused.code, 1);
    const lines = refused.out.split('\n');
    assert.equal(lines.length, findVariables(files).length, refused.out);
    for (const line of lines) assert.match(line, /^[\w/@.~%-]+\.yaml:\d+: spec\.\S+: \*{8} is a masked/);
    assert.equal((await target!.ask('GET', '/api/apis')).body.apis.length, 0, 'nothing was applied');

    const environment = supplySecrets(files);
    const planned = await gwTarget(['apply', directory, '--dry-run', '-o', 'json'], environment);
    assert.equal(planned.code, 2, planned.out);
    assert.equal((await target!.ask('GET', '/api/apis')).body.apis.length, 0, 'a plan changes nothing');
    const applied = await gwTarget(['apply', directory, '-o', 'json'], environment);
    assert.equal(applied.code, 0, applied.out);
    assert.deepEqual(JSON.parse(applied.out), JSON.parse(planned.out));
    const { changes, traffic } = JSON.parse(applied.out);
    assert.equal(changes.length, 13, 'everything but the administrator');
    assert.deepEqual(traffic.routes.map((it: { after: { listen_path: string } }) => it.after.listen_path).sort(), [
      '/guarded',
      '/keyed',
      '/orders',
      '/orders2',
      '/pets',
    ]);

    assert.deepEqual(await observe(target!), await observe(source!));
    const copy = fresh();
    await gwTarget(['export', copy]);
    assert.deepEqual(readFiles(copy), files);
    for (const [args, counts] of [
      [['diff', directory], '0 to create, 0 to update, 0 to delete'],
      [['diff', directory, '--prune'], '0 to create, 0 to update, 0 to delete'],
      [['apply', directory], '0 created, 0 updated, 0 deleted'],
    ] as const) {
      const { out, code } = await gwTarget(args, environment);
      assert.deepEqual([out, code], [`${counts}, 14 unchanged\n`, 0], args.join(' '));
    }
    const { accessKey } = await target!.stranger();
    const other = fresh();
    await createGw(() => target!, accessKey)(['export', other]);
    assert.deepEqual(
      Object.keys(readFiles(other)).map(file => dirname(file)),
      ['users'],
      'another organisation is empty',
    );
  });

  test('changes, a move of routes and deletions are planned with their effect and applied as planned', async () => {
    const directory = fresh();
    await gwSource(['export', directory]);
    const edit = (file: string, from: RegExp, to: string) => {
      const path = join(directory, file);
      const text = readFileSync(path, 'utf8');
      assert.match(text, from, file);
      writeFileSync(path, text.replace(from, to));
    };
    edit('policies/gold.yaml', /rate: 5$/m, 'rate: "${env.GW_VAR_RATE|number}"');
    // The keyed API takes the route that the version leaves.
    edit('apis/pets-v2.yaml', /listen_path: \/orders2\//, 'listen_path: /moved/');
    edit('apis/keyed.yaml', /listen_path: \/keyed\//, 'listen_path: /orders2/');
    const { out: unset, code } = await gwSource(['diff', directory]);
    assert.deepEqual(
      [
        code,
        unset.match(/^policies\/gold\.yaml:\d+: spec\.rate: the environment variable GW_VAR_RATE is not set$/m)?.length,
      ],
      [1, 1],
      unset,
    );
    rmSync(join(directory, 'webhooks/pager.yaml'));
    mkdirSync(join(directory, 'webhooks'), { recursive: true });
    const environment = { GW_VAR_RATE: '50' };
    const plan = await gwSource(['diff', directory, '--prune'], environment);
    assert.equal(plan.code, 2, plan.out);
    assert.match(plan.out, /^~ update policy gold\n {4}- spec\.rate: 5\n {4}\+ spec\.rate: 50$/m);
    assert.match(plan.out, /^- delete webhook pager$/m);
    assert.match(plan.out, /^Live traffic: 2 APIs, 1 policies, 0 keys$/m);
    assert.match(plan.out, /^ {4}- route \/keyed of keyed\n {4}\+ route \/orders2 of keyed$/m);
    assert.match(plan.out, /^0 to create, 3 to update, 1 to delete, 10 unchanged\n$/m);
    const applied = await gwSource(['apply', directory, '--prune'], environment);
    const done = plan.out.replace(/0 to create, 3 to update, 1 to delete/, '0 created, 3 updated, 1 deleted');
    assert.deepEqual([applied.out, applied.code], [done, 0]);
    assert.equal((await gwSource(['diff', directory, '--prune'], environment)).code, 0);
    assert.equal((await source!.ask('GET', '/api/portal/policies/gold')).body.rate, 50);
    const again = await gwSource(['export', directory], environment);
    assert.match(
      readFileSync(join(directory, 'policies/gold.yaml'), 'utf8'),
      /\$\{env\.GW_VAR_RATE\|number\}/,
      again.out,
    );
  });

  if (engine === 'sqlite')
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      test(`apply --watch applies changed files, reports a bad one, and ends with 0 on ${signal}`, async () => {
        const { accessKey } = await target!.stranger();
        const directory = fresh();
        mkdirSync(directory);
        const write = (rate: string) =>
          writeFileSync(
            join(directory, 'gold.yaml'),
            `kind: policy\nid: gold\nspec:\n  name: Gold\n  rate: ${rate}\n  per: 60\n`,
          );
        const readRate = async () =>
          (await target!.ask('GET', '/api/portal/policies/gold', { credential: accessKey })).body.rate;
        write('1');
        const gw = startCommand(['apply', directory, '--watch'], {
          directory: fresh(),
          environment: { GW_URL: target!.url.dashboard, GW_ACCESS_KEY: accessKey },
        });
        await gw.waitForOutput(out => out.includes('1 created'));
        write('2');
        await gw.waitForOutput(out => out.includes('+ spec.rate: 2'));
        assert.equal(await readRate(), 2);
        write('fast');
        await gw.waitForOutput(out => /^gold\.yaml:5: spec\.rate: /m.test(out));
        assert.equal(await readRate(), 2, 'a bad file changes nothing');
        write('3');
        await gw.waitForOutput(out => out.includes('+ spec.rate: 3'));
        assert.equal(await readRate(), 3);
        gw.child.kill(signal);
        const ended = await gw.ended;
        assert.deepEqual([ended.code, ended.signal, ended.err], [0, null, '']);
      });

  test('an export removes the file of the last object of a kind, and leaves kinds that the caller may not read', async () => {
    const { accessKey } = await target!.stranger();
    const gw = createGw(() => target!, accessKey);
    const policy = { name: 'Last', rate: 1, per: 1 };
    const created = await target!.ask('POST', '/api/portal/policies', { credential: accessKey, body: policy });
    const directory = fresh();
    await gw(['export', directory]);
    const list = () => Object.keys(readFiles(directory)).map(file => dirname(file));
    assert.deepEqual(list(), ['policies', 'users']);
    const path = `/api/portal/policies/${created.body.Message}`;
    assert.equal((await target!.ask('DELETE', path, { credential: accessKey })).status, 200);
    assert.match((await gw(['export', directory])).out, / 1 removed\n$/);
    assert.deepEqual(list(), ['users']);
  });

  test('a bad file among hundreds is named with line and path, with all others, and nothing is applied', async () => {
    const directory = fresh();
    mkdirSync(join(directory, 'policies'), { recursive: true });
    const file = (n: number) => join(directory, `policies/p${n}.yaml`);
    for (let n = 0; n < 300; n++)
      writeFileSync(file(n), `kind: policy\nid: bulk-${n}\nspec:\n  name: Bulk ${n}\n  rate: ${n}\n  per: 60\n`);
    writeFileSync(file(7), 'kind: policy\nid: bulk-7\nspec:\n  name: Bulk 7\n  rate: fast\n');
    writeFileSync(file(8), 'kind: policy\nid: bulk-8\nspec:\n  name: Bulk 8\n  ratee: 1\n');
    writeFileSync(file(9), 'kind: policy\nid: bulk-9\nspec:\n  name: [unclosed\n');
    writeFileSync(file(10), 'kind: policy\nid: bulk-10\nspec:\n  name: Bulk 11\n');
    const refused = await gwSource(['apply', directory]);
    assert.equal(refused.code, 1);
    const lines = refused.out.split('\n').sort();
    assert.match(lines.join('\n'), /^policies\/p7\.yaml:5: spec\.rate: /m);
    assert.match(lines.join('\n'), /^policies\/p8\.yaml:5: spec\.ratee: no such member; did you mean rate\?$/m);
    assert.match(lines.join('\n'), /^policies\/p9\.yaml:\d+: it is not YAML$/m);
    assert.equal(lines.length, 3, refused.out);
    for (const n of [7, 8, 9]) rmSync(file(n));
    const conflict = await gwSource(['apply', directory]);
    assert.match(conflict.out, /^policies\/p1[01]\.yaml:1: .*Bulk 11/m);
    const { body } = await source!.ask('GET', '/api/portal/policies/search?q=bulk');
    assert.equal(body.Data, null, 'nothing was applied');
    rmSync(file(10));
    const applied = await gwSource(['apply', directory]);
    assert.match(applied.out, /296 created, 0 updated, 0 deleted, 0 unchanged/);
  });
}
