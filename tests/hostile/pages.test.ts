import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApi, publish } from '../support/traffic.ts';
import { withSettings } from '../support/with-settings.ts';
import { call } from './raw.ts';

interface Page {
  readonly what: string;
  readonly status: number;
  readonly header: (name: string) => string;
}

const isPage = ({ header }: Page) => /^text\/(?:html|plain)\b/.test(header('content-type'));

function assertGuarded(page: Page): void {
  const { what, header } = page;
  assert.match(header('content-security-policy'), /(?:^|; )frame-ancestors 'none'(?:;|$)/, what);
  assert.equal(header('x-content-type-options'), 'nosniff', what);
}

/** Sends one request with exactly these bytes. */
async function rawPage(base: string, head: string): Promise<Page> {
  const caller = await call(Number(new URL(base).port));
  caller.send(`${head}\r\n\r\n`);
  await caller.until(/\r\n\r\n/);
  const received = caller.received();
  caller.leave();
  const header = (name: string) => new RegExp(`^${name}: (.*)\r$`, 'im').exec(received)?.[1] ?? '';
  return { what: `${base} ${head}`, status: Number(received.split(' ')[1]), header };
}

async function fetchPage(url: string, init: RequestInit = {}): Promise<Page> {
  const { status, headers } = await fetch(url, init);
  return { what: `${init.method ?? 'GET'} ${url}`, status, header: name => headers.get(name) ?? '' };
}

const page = '<!doctype html><title>Gone</title><p>Gone</p>';
const overrides = {
  '403': [{ response: { body: page, headers: { 'Content-Type': 'text/html; charset=utf-8' } } }],
};

withSettings(
  'framing and sniffing of pages',
  {
    'gateway.max_request_body_bytes': '10',
    'gateway.error_overrides': JSON.stringify(overrides),
    'gateway.control_on_traffic_port': 'true',
  },
  (app, upstream) => {
    const paths = [
      '/',
      '/docs',
      '/docs/',
      '/docs/createUser',
      '/docs/reference.css',
      '/docs/reference.js',
      '/pages/landing.css',
      '/pages/landing.js',
      '/guides/deploying',
      '/openapi.json',
      '/hello',
      '/ready',
      '/metrics',
      '/unknown',
    ];
    const below = ['/api', '/api/unknown', '/admin/unknown', '/gw/unknown', '/portal-api/unknown', '/%ff', '/api/%zz'];

    test('every page of the dashboard and portal listeners forbids framing and sniffing', async () => {
      const pages: Page[] = [];
      for (const base of [app().url.dashboard, app().url.portal])
        for (const path of [...paths, ...below])
          for (const method of ['GET', 'HEAD', 'DELETE'])
            for (const accept of ['*/*', 'text/html'])
              pages.push(await fetchPage(base + path, { method, headers: { accept } }));
      for (const page of pages) assertGuarded(page);
      assert.ok(pages.some(it => it.status === 200 && it.header('content-type').startsWith('text/html')));
      assert.ok(pages.some(it => it.status === 404 && isPage(it)));
    });

    test('the reference pages may load from their own listener and nothing else', async () => {
      for (const path of ['/', '/docs', '/docs/createUser', '/unknown']) {
        const { header } = await fetchPage(app().url.dashboard + path, { headers: { accept: 'text/html' } });
        const [first, ...others] = header('content-security-policy').split('; ');
        assert.equal(first, "default-src 'none'");
        for (const directive of others) assert.match(directive, /^[a-z-]+ '(?:self|none)'$/);
      }
    });

    test('every page of the gateway itself forbids framing and sniffing', async () => {
      const base = app().url.gateway;
      const own = await Promise.all([...paths, ...below].map(path => fetchPage(base + path)));
      const large = { method: 'POST', body: 'longer than ten bytes' };
      const definition = openApi(upstream(), { use_keyless: false, use_standard_auth: true });
      const closed = await publish(app(), definition);
      const pages = [
        ...own.filter(isPage),
        await fetchPage(`${base}/hello`, { method: 'POST' }),
        await fetchPage(await publish(app(), openApi(upstream())), large),
        await fetchPage(closed, { headers: { authorization: 'unknown' } }),
        await rawPage(base, 'GET / HTTP/1.1'),
        await rawPage(base, 'TRACE / HTTP/1.1\r\nHost: x'),
        await rawPage(base, 'not http'),
        await rawPage(base, 'GET /%zz HTTP/1.1\r\nHost: x'),
      ];
      for (const page of pages) {
        assert.ok(isPage(page), page.what);
        assertGuarded(page);
      }
      const statuses = new Set(pages.map(({ status }) => status));
      assert.deepEqual(
        [400, 403, 404, 405, 413].filter(status => !statuses.has(status)),
        [],
      );
    });

    test('responses of upstreams keep their own policy headers', async () => {
      const { headers } = await fetch(await publish(app(), openApi(upstream())));
      assert.equal(headers.get('content-security-policy'), null);
    });
  },
);
