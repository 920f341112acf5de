import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { waitUntilApplied } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';
import { runImportCommand } from './import-command.ts';

describe('gw import', () => {
  let app: TestApp;
  let upstream: Upstream;
  const folder = mkdtempSync(join(tmpdir(), 'gw-import-'));
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await Promise.all([app?.close(), upstream?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  const fromDirectory = () => ({ GW_DATA_DIR: app.directory });
  async function run(args: readonly string[], environment: Record<string, string> = fromDirectory()): Promise<string> {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    await runImportCommand(args, { environment, print });
    return printed;
  }
  const file = (name: string, content: unknown) => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  };

  test('a cURL command becomes an API that serves, and a second import updates it', async () => {
    const path = file('orders.sh', `curl '${upstream.url}/orders/17?full=true' -H 'Authorization: Bearer hidden'`);
    const printed = await run([path, '--listen-path', '/from-curl/']);
    const [, id] = /^API (from-curl-[0-9a-f]{8}) added\nwarning: segments of paths/.exec(printed) ?? [];
    assert.ok(id, printed);
    await waitUntilApplied(app);
    assert.equal((await fetch(`${app.url.gateway}/from-curl/orders/5`)).status, 200);
    assert.match(await run([path, '--listen-path', '/from-curl/']), new RegExp(`^API ${id} modified\n`));
    const { text } = await app.ask('GET', `/api/apis/oas/${id}`);
    assert.ok(!text.includes('hidden'));
    assert.match(text, /"\/orders\/\{orders_id\}"/);
  });

  test('Swagger 2.0 is converted, HAR and Postman too, each recognised', async () => {
    const { host } = new URL(upstream.url);
    const swagger = {
      swagger: '2.0',
      info: { title: 'Sw', version: '1' },
      host,
      schemes: ['http'],
      paths: { '/p': { get: { responses: { 200: { description: 'ok' } } } } },
    };
    const har = {
      log: {
        entries: [
          {
            request: { method: 'GET', url: `${upstream.url}/h` },
            response: { status: 200, content: { mimeType: 'application/json', text: '{}' } },
          },
        ],
      },
    };
    const postman = { info: { name: 'Pm' }, item: [{ name: 'p', request: `${upstream.url}/pm` }] };
    for (const [name, content] of Object.entries({ swagger, har, postman })) {
      const result = JSON.parse(await run([file(`${name}.json`, content), '--listen-path', `/${name}/`, '-o', 'json']));
      assert.deepEqual([result.format, result.action], [name, 'added']);
      assert.equal((await app.ask('GET', `/api/apis/oas/${result.id}`)).status, 200);
    }
  });

  test('AsyncAPI becomes a streams API', async () => {
    const asyncapi = {
      asyncapi: '2.6.0',
      info: { title: 'Events', version: '1' },
      servers: { k: { url: '127.0.0.1:9', protocol: 'kafka' } },
      channels: { orders: { subscribe: {} } },
    };
    const path = file('events.yaml', asyncapi);
    const [, id] = /^API (events-[0-9a-f]{8}) added\n/.exec(await run([path])) ?? [];
    assert.ok(id);
    const { body } = await app.ask('GET', `/api/apis/streams/${id}`);
    assert.deepEqual(Object.keys(body['x-gw-streaming'].streams), ['orders-out']);
    assert.match(await run([path]), /modified/);
    await assert.rejects(run([path, '--upstream', upstream.url]), /a streams API takes no --upstream/);
  });

  test('a dry run prints the document and stores nothing', async () => {
    const before = (await app.ask('GET', '/gw/apis')).body.length;
    const path = file('dry.sh', `curl ${upstream.url}/x`);
    const printed = await run([path, '--listen-path', '/dry/', '--dry-run']);
    assert.match(printed, /^openapi: ["']?3\.0\.3/m);
    assert.match(printed, /value: \/dry\//);
    assert.equal((await app.ask('GET', '/gw/apis')).body.length, before);
  });

  test('wrong formats, missing files, a missing access key and a wrong one are errors', async () => {
    const path = file('bad.json', { some: 'thing' });
    await assert.rejects(run([path]), /format of the text is not recognised/);
    await assert.rejects(run([file('w.xml', '<definitions/>'), '--format', 'wsdl']), /wsdl is not supported/);
    await assert.rejects(run([path, '--format', 'soap']), /format/);
    await assert.rejects(run([join(folder, 'absent')]), /cannot be read \(ENOENT\)/);
    const none = { GW_URL: app.url.dashboard, GW_DATA_DIR: folder };
    await assert.rejects(run([path], none), /The access key is missing: set GW_ACCESS_KEY/);
    await assert.rejects(run([path], { ...none, GW_ACCESS_KEY: 'wrong' }), /rejects the secret: set GW_ACCESS_KEY/);
    await assert.rejects(
      run([file('no-host.json', { openapi: '3.0.0', info: { title: 'N', version: '1' }, paths: {} })]),
      /set --upstream URL/,
    );
    assert.match(await run([]), /^gw import: .*--dry-run/s);
  });
});
