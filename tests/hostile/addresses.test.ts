import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../harness.ts';
import { eventually, openApi, publish } from '../traffic.ts';
import { startUpstream, type Upstream } from '../upstream.ts';

describe('addresses of upstreams', () => {
  let app: TestApp;
  let upstream: Upstream;
  let logged = '';
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', {
      onTrafficLog(lines) {
        logged += lines;
      },
    });
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const answerAt = async (url: string, init: RequestInit = {}) => {
    const response = await fetch(url, init);
    return { status: response.status, text: await response.text() };
  };
  const refused = { status: 502, text: '{"error":"The upstream address is not allowed"}' };
  const plain = ({ status, text }: { status: number; text: string }) => ({
    status,
    text: text.replace(/\s+(?=["{}])/g, ''),
  });

  test('a name that means this machine and a management port is refused, and the log says why', async () => {
    const { port } = new URL(app.url.dashboard);
    const url = await publish(app, openApi({ url: `http://localhost:${port}` }));
    const got = await answerAt(`${url}/admin/organisations`, {
      headers: { 'admin-auth': app.credentials.admin_secret },
    });
    assert.deepEqual(plain(got), refused);
    await eventually(() => assert.match(logged, /upstream_address_refused.*a management listener/));
    assert.ok(!got.text.includes(port) && !got.text.includes('127.0.0.1'));
  });

  test('a host that a caller chooses is held to the same rules', async () => {
    const { port } = new URL(app.url.portal);
    const rewrite = { path: '/h', method: 'GET', match_pattern: '/h\\?h=(.*)', rewrite_to: 'http://$1/x' };
    const version = { name: 'Default', use_extended_paths: true, extended_paths: { url_rewrites: [rewrite] } };
    const definition = openApi(upstream, { version_data: { not_versioned: true, versions: { Default: version } } });
    const url = await publish(app, definition);
    assert.equal((await answerAt(`${url}/h?h=127.0.0.1:${upstream.port}`)).status, 200);
    const before = upstream.requests.length;
    for (const host of [
      `0.0.0.0:${upstream.port}`,
      `[::]:${upstream.port}`,
      `[::ffff:0.0.0.0]:${upstream.port}`,
      '169.254.169.254',
      '[fd00:ec2::254]',
      'metadata.google.internal',
      `127.0.0.1:${port}`,
      `127.1:${port}`,
      `[::ffff:7f00:1]:${port}`,
      `localhost:${port}`,
    ])
      assert.deepEqual(plain(await answerAt(`${url}/h?h=${host}`)), refused, host);
    assert.equal(upstream.requests.length, before);
  });
});
