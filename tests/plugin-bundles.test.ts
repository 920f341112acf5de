import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { writeZip } from '#base/zip-writer.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { eventually, findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Bundle whose pre hook sets a header. */
function bundle(header: string, value: string, driver = 'typescript'): Buffer {
  const name = driver === 'typescript' ? 'hooks/set.ts' : 'hooks/set.js';
  const source = Buffer.from(`import { value } from './value.ts';
export const set = request => { request.headers.set('${header}', value); };`);
  const imported = Buffer.from(`export const value: string = '${value}';`);
  const files = new Map([
    [name, source],
    ['hooks/value.ts', imported],
  ]);
  const manifest = {
    file_list: [...files.keys()],
    custom_middleware: { driver, pre: [{ name: 'set', path: name }] },
    checksum: createHash('sha256').update(source).update(imported).digest('hex'),
  };
  return writeZip(new Map([['manifest.json', Buffer.from(JSON.stringify(manifest))], ...files]));
}

describe('Plugin bundles', () => {
  let app: TestApp;
  let upstream: Upstream;
  let server: Server;
  /** Archives by path. */
  const served = new Map<string, Buffer>();
  const requests: { readonly path: string; readonly status: number }[] = [];

  before(async () => {
    server = createServer((request, response) => {
      const path = request.url ?? '';
      const archive = served.get(path);
      const etag = archive && `"${createHash('sha256').update(archive).digest('hex')}"`;
      const status = !etag ? 404 : request.headers['if-none-match'] === etag ? 304 : 200;
      requests.push({ path, status });
      response.writeHead(status, etag ? { etag } : {}).end(status === 200 ? archive : '');
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bundles`;
    const settings = {
      'plugins.bundles.base_url': base,
      'plugins.bundles.refresh_seconds': '1',
      'plugins.timeout_ms': '15000',
    };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    server?.close();
  });

  const using = (names: string): BothFormats => ({
    classic: {
      custom_middleware_bundle: names,
      // Replaced by that of the bundle.
      custom_middleware: { driver: 'otto', pre: [{ name: 'own', path: 'own.js' }] },
    },
    oas: { middleware: { global: { pluginConfig: { bundle: { enabled: true, path: names } } } } },
  });
  const publishOne = (names: string) => publish(app, openApi(upstream, using(names).classic));
  const readHeader = async (url: string, name: string) => {
    const reply = await fetch(`${url}/x`);
    assert.equal(reply.status, 200);
    await reply.arrayBuffer();
    return upstream.requests.at(-1)!.headers[name];
  };

  test('the hooks of a bundle replace those of the definition, and a changed bundle is loaded', async () => {
    served.set('/bundles/one.zip', bundle('x-bundle', 'first'));
    const apis = await publishBoth(app, upstream, using('one.zip'));
    for (const { url, format } of apis) assert.equal(await readHeader(url, 'x-bundle'), 'first', format);
    // Unchanged, it is not sent again.
    await eventually(() =>
      assert.ok(requests.some(({ path, status }) => path === '/bundles/one.zip' && status === 304)),
    );
    served.set('/bundles/one.zip', bundle('x-bundle', 'second'));
    for (const { url } of apis) await eventually(async () => assert.equal(await readHeader(url, 'x-bundle'), 'second'));
    // The last good bundle stays in use.
    served.set('/bundles/one.zip', Buffer.from('no archive'));
    const count = requests.length;
    await eventually(() =>
      assert.ok(requests.slice(count).filter(({ path }) => path === '/bundles/one.zip').length > 1),
    );
    assert.equal(await readHeader(apis[0]!.url, 'x-bundle'), 'second');
  });

  test('an API whose bundle is not there is not served until it is', async () => {
    const url = await publishOne('later.zip');
    assert.match(await findUnavailableReason(app, url), /later\.zip is not loaded: the bundle server returned 404/);
    served.set('/bundles/later.zip', bundle('x-later', 'yes'));
    await eventually(async () => assert.equal(await readHeader(url, 'x-later'), 'yes'));
  });

  test('several bundles run in order, with one driver', async () => {
    served.set('/bundles/a.zip', bundle('x-a', '1'));
    served.set('/bundles/team/b.zip', bundle('x-b', '2'));
    served.set('/bundles/js.zip', bundle('x-c', '3', 'javascript'));
    const url = await publishOne('a.zip, team/b.zip');
    assert.equal(await readHeader(url, 'x-a'), '1');
    assert.equal(upstream.requests.at(-1)!.headers['x-b'], '2');
    const mixed = await publishOne('a.zip,js.zip');
    assert.match(await findUnavailableReason(app, mixed), /different drivers/);
  });

  test('bundles of another organisation are below its id, and names cannot leave it', async () => {
    served.set('/bundles/own.zip', bundle('x-own', 'operator'));
    const { accessKey, orgId } = await app.stranger();
    const publishForeign = async (names: string) => {
      const definition = openApi(upstream, { custom_middleware_bundle: names });
      const body = { api_definition: definition };
      assert.equal((await app.ask('POST', '/api/apis', { body, credential: accessKey })).status, 200);
      await waitUntilApplied(app);
      return app.url.gateway + definition.proxy.listen_path;
    };
    assert.match(await findUnavailableReason(app, await publishForeign('own.zip')), /returned 404/);
    assert.ok(requests.some(({ path }) => path === `/bundles/${orgId}/own.zip`));
    for (const name of ['../own.zip', '%2e%2e/own.zip', 'http://127.0.0.1/own.zip', '/own.zip', 'own.zip?x'])
      assert.match(await findUnavailableReason(app, await publishForeign(name)), /is not the name of a bundle/, name);
    served.set(`/bundles/${orgId}/theirs.zip`, bundle('x-theirs', 'tenant'));
    assert.equal(await readHeader(await publishForeign('theirs.zip'), 'x-theirs'), 'tenant');
  });
});
