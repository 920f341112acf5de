import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import { rememberSecrets, startApp, type TestApp } from '../../tests/support/app.ts';
import { makeCertificate } from '../../tests/support/certificates.ts';
import { runChild } from '../../tests/support/gw-process.ts';
import { runClientCommand } from './client-command.ts';

describe('gw client commands', () => {
  let app: TestApp;
  const folder = mkdtempSync(join(tmpdir(), 'gw-cli-'));
  before(async () => {
    app = await startApp('sqlite');
  });
  after(async () => {
    await app?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const surroundings = () => ({ GW_URL: app.url.dashboard, GW_SECRET: app.credentials.gateway_secret });
  async function gw(args: string, environment: Record<string, string> = surroundings()): Promise<string> {
    let output = '';
    const print = (text: string) => {
      output += text;
    };
    await runClientCommand(args.split(' '), { environment, print });
    return output;
  }
  const gwJson = async (args: string) => JSON.parse(await gw(`${args} -o json`));
  const file = (content: unknown, name = `${createPublicId()}.yaml`) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };
  async function expectError(args: string, message: RegExp, environment?: Record<string, string>): Promise<void> {
    await assert.rejects(gw(args, environment), (error: unknown) => {
      assert.ok(error instanceof Problem, String(error));
      assert.match(error.message, message);
      assert.ok(!error.message.includes('\n'), 'one sentence');
      return true;
    });
  }
  const classic = (api_id: string, more: object = {}) => ({
    api_id,
    name: `Name of ${api_id}`,
    proxy: { listen_path: `/${api_id}/`, target_url: 'http://127.0.0.1:9' },
    ...more,
  });

  test('an API is applied, listed, read back so that it can be applied again, and removed', async () => {
    const id = createPublicId();
    const path = file(classic(id));
    assert.equal(await gw(`apis apply -f ${path}`), `API ${id} added\n`);
    assert.equal(await gw(`apis apply -f ${path}`), `API ${id} modified\n`);
    const listed = await gw('apis ls');
    assert.match(listed, /^ID +NAME +LISTEN PATH +TARGET +FORMAT +ACTIVE +SERVED\n/);
    assert.match(
      listed,
      new RegExp(`^${id} +Name of ${id} +/${id}/ +http://127.0.0.1:9 +classic +yes +(yes|no: .*)$`, 'm'),
    );
    const shown = await gw(`apis get ${id}`);
    assert.match(shown, new RegExp(`^api_id: ["']?${id}`, 'm'));
    assert.equal(await gw(`apis apply -f ${file(shown)}`), `API ${id} modified\n`);
    assert.deepEqual(await gwJson(`apis get ${id}`), (await app.ask('GET', `/gw/apis/${id}`)).body);
    assert.equal(await gw(`apis rm ${id}`), `API ${id} deleted\n`);
    await expectError(`apis get ${id}`, /not found/i);
    await expectError(`apis rm ${id}`, /not found/i);
  });

  test('an API in OpenAPI format keeps its format when applied again', async () => {
    const id = createPublicId();
    const document = {
      openapi: '3.0.3',
      info: { title: 'Pets', version: '1' },
      paths: {},
      'x-gw-api-gateway': {
        info: { id, name: 'Pets', state: { active: true } },
        server: { listenPath: { value: `/${id}/`, strip: true } },
        upstream: { url: 'http://127.0.0.1:9' },
      },
    };
    const path = file(document);
    assert.equal(await gw(`apis apply -f ${path}`), `API ${id} added\n`);
    assert.equal(await gw(`apis apply -f ${path}`), `API ${id} modified\n`);
    const shown = await gwJson(`apis get ${id}`);
    assert.equal(shown['x-gw-api-gateway'].info.id, id);
    assert.match(await gw('apis ls'), new RegExp(`^${id} +.*openapi`, 'm'));
    assert.deepEqual(await gwJson(`apis rm ${id}`), [{ key: id, status: 'ok', action: 'deleted' }]);
  });

  const plain = (title: string, more: object = {}) => ({
    openapi: '3.0.3',
    info: { title, version: '1' },
    servers: [{ url: 'http://127.0.0.1:9' }],
    paths: { '/pets': { get: { operationId: 'list', responses: { 200: { description: 'ok' } } } } },
    ...more,
  });

  test('a plain OpenAPI document is imported once, and applying it again updates the document', async () => {
    const word = createPublicId().slice(0, 8);
    const [made] = await gwJson(`apis apply -f ${file(plain(`Pets of ${word}`))}`);
    assert.deepEqual([made.action, made.key.startsWith(`pets-of-${word}-`)], ['added', true], made.key);
    const next = plain(`Pets of ${word}`, {
      paths: { '/cats': { get: { responses: { 200: { description: 'ok' } } } } },
    });
    assert.equal(await gw(`apis apply -f ${file(next)}`), `API ${made.key} modified\n`);
    const shown = await gwJson(`apis get ${made.key}`);
    assert.deepEqual(Object.keys(shown.paths), ['/cats']);
    assert.equal(shown['x-gw-api-gateway'].server.listenPath.value, `/pets-of-${word}/`);
    assert.equal(shown['x-gw-api-gateway'].upstream.url, 'http://127.0.0.1:9');
    await app.ask('GET', '/gw/reload?block=true');
    assert.match(await gw('apis ls'), new RegExp(`^${made.key} .*openapi +yes +yes$`, 'm'));
    await gw(`apis rm ${made.key}`);
  });

  test('a plain OpenAPI document without a usable server, title or version is rejected and creates no API', async () => {
    const before = await gwJson('apis ls');
    const hint = /document 1: no usable server URL: use gw apis import with --upstream URL \(/;
    for (const servers of [undefined, [{ url: '/v1' }], [{ url: 'https://{host}/' }]])
      await expectError(`apis apply -f ${file(plain('Pets', { servers }))}`, hint);
    await expectError(`apis apply -f ${file(plain('…'))}`, /no title to derive a listen path from: set --listen-path/);
    await expectError(
      `apis apply -f ${file({ swagger: '2.0', info: { title: 'Old', version: '1' }, paths: {} })}`,
      /2\.0/,
    );
    await expectError(
      `apis apply -f ${file({ proxy: { target_url: 'http://127.0.0.1:9' } })}`,
      /no id, listen path or name/,
    );
    assert.deepEqual(await gwJson('apis ls'), before);
  });

  test('import accepts upstream, listen path, id and the options of the document', async () => {
    const id = createPublicId();
    const path = file(plain('Pets', { servers: undefined }));
    const flags = `--id ${id} --upstream http://127.0.0.1:10 --listen-path /${id}/ --domain ${id}.example --validate --allow-list`;
    assert.equal(await gw(`apis import -f ${path} ${flags}`), `API ${id} added\n`);
    assert.equal(await gw(`apis import -f ${path} --id ${id}`), `API ${id} modified\n`);
    const { server, upstream, middleware } = (await gwJson(`apis get ${id}`))['x-gw-api-gateway'];
    assert.deepEqual([server.listenPath.value, server.customDomain.name], [`/${id}/`, `${id}.example`]);
    assert.equal(upstream.url, 'http://127.0.0.1:10');
    assert.equal(middleware.operations.list.allow.enabled, true);
    await gw(`apis rm ${id}`);
  });

  test('documents without an id create one API, however often they are applied', async () => {
    const path = createPublicId();
    const { api_id: _id, ...definition } = classic(path);
    const extension = { info: { name: 'Pets', state: { active: true } }, upstream: { url: 'http://127.0.0.1:9' } };
    const oas = {
      ...plain('Pets'),
      'x-gw-api-gateway': { ...extension, server: { listenPath: { value: `/oas-${path}/` } } },
    };
    for (const document of [definition, oas]) {
      const [first] = await gwJson(`apis apply -f ${file(document)}`);
      const [second] = await gwJson(`apis apply -f ${file(document)}`);
      assert.deepEqual([first.action, second.action, second.key], ['added', 'modified', first.key]);
      await gw(`apis rm ${first.key}`);
    }
    const slashed = { ...definition, proxy: { ...definition.proxy, listen_path: `/${path}/b/` } };
    const dashed = { ...definition, proxy: { ...definition.proxy, listen_path: `/${path}-b/` } };
    const made = await gwJson(`apis apply -f ${file([slashed, dashed])}`);
    assert.deepEqual(
      made.map((it: { action: string }) => it.action),
      ['added', 'added'],
    );
    await gw(`apis rm ${made[0].key} ${made[1].key}`);
  });

  test('an unknown member is reported with its file, and members without effect as warnings', async () => {
    const path = file({ id: createPublicId(), name: createPublicId(), rates: 5 });
    await expectError(
      `policies apply -f ${path}`,
      new RegExp(`^${path}, document 1: rates: no such member; did you mean rate\\?$`),
    );
    const legacy = file({ key_id: createPublicId(), quota_used: 3, access_rights: { a1: {} }, rate: 1, per: 1 });
    assert.match(
      await gw(`keys apply -f ${legacy}`),
      new RegExp(`added\\nwarning: ${legacy}, document 1: quota_used: legacy member, kept without effect\\n$`),
    );
  });

  test('several documents of a file are applied in order, and a rejected one is reported by number', async () => {
    const [one, two] = [createPublicId(), createPublicId()];
    const yaml = `id: ${one}\nrate: 5\nper: 60\n---\nid: ${two}\nquota_max: 10\nquota_renewal_rate: 3600\n`;
    assert.equal(await gw(`policies apply -f ${file(yaml)}`), `policy ${one} added\npolicy ${two} added\n`);
    const listed = await gw('policies ls');
    assert.match(listed, new RegExp(`^${one} +${one} +active +5 in 60 s +any`, 'm'));
    assert.match(listed, new RegExp(`^${two} +${two} +active +any +10 in 3600 s`, 'm'));
    assert.deepEqual(await gwJson(`policies apply -f ${file([{ id: one, rate: 6, per: 60 }])}`), [
      { key: one, status: 'ok', action: 'modified' },
    ]);
    assert.equal((await gwJson(`policies get ${one}`)).rate, 6);
    const mixed = file([{ id: one, rate: 7 }, { rate: 8 }]);
    await expectError(`policies apply -f ${mixed}`, /, document 2: Unable to create policy without id\.$/);
    assert.equal((await gwJson(`policies get ${one}`)).rate, 7);
    assert.equal(await gw(`policies rm ${one} ${two}`), `policy ${one} deleted\npolicy ${two} deleted\n`);
    await expectError(`policies get ${one}`, /^Policy not found$/);
  });

  test('keys with an id are created and replaced, keys without one are created each time', async () => {
    const apiId = createPublicId();
    const rights = { access_rights: { [apiId]: { api_id: apiId } } };
    const name = createPublicId();
    const id = app.credentials.organisation_id + name;
    rememberSecrets({ id });
    const path = file({ key_id: name, alias: 'one', ...rights });
    assert.equal(await gw(`keys apply -f ${path}`), `key ${id} added\n`);
    assert.equal(await gw(`keys apply -f ${path}`), `key ${id} modified\n`);
    assert.equal((await gwJson(`keys get ${id}`)).alias, 'one');
    const [made] = await gwJson(`keys apply -f ${file(rights)}`);
    assert.equal(made.action, 'added');
    assert.deepEqual(await gwJson(`keys ls --api ${apiId}`), [{ key: made.key }, { key: id }]);
    assert.equal(await gw(`keys ls --filter ${id}`), `KEY\n${id}\n`);
    await gw(`keys rm ${id} ${made.key}`);
    assert.equal(await gw(`keys ls --api ${apiId}`), 'There are no keys.\n');
    await expectError(`keys get ${id}`, /^Key not found$/);
  });

  test('certificates are applied as PEM', async () => {
    const { certPem, keyPem, fingerprint } = makeCertificate({ cn: 'a.example' });
    const id = app.credentials.organisation_id + fingerprint;
    const path = file(certPem + keyPem, 'pair.pem');
    assert.equal(await gw(`certs apply -f ${path}`), `certificate ${id} added\n`);
    assert.match(await gw('certs ls'), new RegExp(`^${id} +a\\.example +a\\.example +2049-12-31T23:59:59Z +yes$`, 'm'));
    assert.equal((await gwJson(`certs get ${id}`)).fingerprint, fingerprint);
    await expectError(`certs apply -f ${path}`, /already exists$/);
    await expectError(`certs apply -f ${file('{}')}`, /is not a PEM file/);
    assert.equal(await gw(`certs rm ${id}`), `certificate ${id} deleted\n`);
    assert.equal(await gw('certs ls'), 'There are no certs.\n');
  });

  test('an unreadable file changes nothing, and its text is not printed', async () => {
    const id = createPublicId();
    const good = file({ id });
    await expectError(`policies apply -f ${good} -f ${join(folder, 'none')}`, /none cannot be read \(ENOENT\)$/);
    await expectError(`policies apply -f ${good} -f ${file('a: b: secret')}`, /invalid JSON or YAML \(line 1\)$/);
    await expectError(`policies apply -f ${good} -f ${file('--- 7')}`, /document 1 is not an object$/);
    await expectError(`policies apply -f ${good} -f ${file('')}`, /contains no documents$/);
    await expectError(`policies get ${id}`, /^Policy not found$/);
  });

  test('wrong usage, an unreachable gateway and a wrong secret each fail with one sentence', async () => {
    const { GW_URL, GW_SECRET } = surroundings();
    await expectError('keys lists', /^gw keys has no action lists: it has ls, get, apply, rm$/);
    await expectError('keys constructor', /has no action constructor/);
    await expectError('keys get', /^get takes one id/);
    await expectError('keys rm', /^rm needs at least one id/);
    await expectError('keys apply', /^apply needs -f FILE/);
    await expectError('apis exprot', /it has ls, get, apply, rm, import$/);
    await expectError('keys import -f x', /^gw keys has no action import/);
    await expectError('apis import', /^import needs -f FILE/);
    await expectError('apis ls --filter x', /^ls takes no --filter/);
    await expectError('keys apply -f x --upstream http://a.example', /^apply takes no --upstream/);
    await expectError('keys ls more', /^ls takes no id/);
    await expectError('keys ls -o xml', /^-o takes json/);
    await expectError('keys ls --colour', /^Unknown option '--colour'/);
    await expectError('keys ls', /^The gateway secret is missing/, { GW_URL, GW_DATA_DIR: folder });
    await expectError('keys ls', /rejects the secret/, { GW_URL, GW_SECRET: 'wrong' });
    await expectError('keys ls --url ftp://x', /^ftp:\/\/x is not a gateway URL/);
    const server = createServer((_request, response) => response.end('<html>'));
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expectError(`keys ls --url ${url}`, /is not the control interface of a gateway/);
    await new Promise(resolve => server.close(resolve));
    await expectError(`keys ls --url ${url}`, /is unreachable \(ECONNREFUSED\)/);
    await expectError(`keys ls --url ${app.url.gateway}`, /is not the control interface of a gateway/, { GW_SECRET });
    assert.equal(await gw(`policies ls --url ${GW_URL}/ --secret ${GW_SECRET}`, {}), 'There are no policies.\n');
  });

  test('URL and secret default to those of the data directory', async () => {
    const GW_DATA_DIR = app.directory;
    assert.equal(await gw('policies ls', { GW_DATA_DIR }), 'There are no policies.\n');
    assert.equal(await gw(`policies ls --data-dir ${app.directory}`, {}), 'There are no policies.\n');
    assert.equal(await gw('policies ls', { GW_DATA_DIR, GW_URL: `${app.url.dashboard}/` }), 'There are no policies.\n');
    await expectError('policies ls', /rejects the secret/, { GW_DATA_DIR, GW_SECRET: 'wrong' });
    // Another machine's address never gets the secret of this one.
    await expectError('policies ls', /^The gateway secret is missing/, {
      GW_DATA_DIR,
      GW_URL: 'http://192.0.2.1:3000',
    });
    await expectError('policies ls', /no such setting/, { GW_DATA_DRI: folder });
    const broken = join(folder, 'broken');
    mkdirSync(broken);
    writeFileSync(join(broken, 'credentials.json'), '{"gateway_secret": canary');
    await expectError('policies ls', /credentials\.json: invalid JSON or YAML$/, { GW_DATA_DIR: broken });
  });

  test('control characters in names do not reach the terminal', async () => {
    const id = createPublicId();
    await gw(`policies apply -f ${file({ id, name: 'a\u001b[2Jb' })}`);
    assert.ok(!(await gw('policies ls')).includes('\u001b'));
    await gw(`policies rm ${id}`);
  });

  test('gw reads URL and secret from the environment, and exits with 0 or 1', async () => {
    const environment = surroundings();
    const directory = join(folder, 'none');
    const listed = await runChild(['policies', 'ls', '-o', 'json'], { directory, environment });
    assert.deepEqual([listed.code, listed.out, listed.err], [0, '[]\n', '']);
    const missing = await runChild(['policies', 'get', 'none'], { directory, environment });
    assert.deepEqual([missing.code, missing.out, missing.err], [1, '', 'Policy not found\n']);
    const help = await runChild(['keys', '--help'], { directory });
    assert.equal(help.code, 0);
    assert.match(help.out, /^gw keys: .*gw keys ls.*--url URL/s);
    assert.match((await runChild(['--help'], { directory })).out, /gw apis\|keys\|policies\|certs/);
    const config = await runChild(['config'], { directory, environment });
    assert.equal(config.code, 0, config.err);
  });
});
