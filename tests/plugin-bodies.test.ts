import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Not UTF-8: as a text, each byte above 127 would become U+FFFD. */
const bytes = Buffer.from([0xff, 0x00, 0x80, 0xc3, 0x0a, 0x41]);
const reversed = Buffer.from(bytes).reverse();
const reverse = (subject: string) => `${subject} = ${subject}.split('').reverse().join('');`;

const javascript = (body: string) => `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request) { ${body} return mw.ReturnData(request, {}); });
mw.NewProcessResponse(function (response) { ${reverse('response.Body')} return mw.ReturnResponseData(response, {}); });`;
const typescript = `export function mw(message: { body: string }): void { ${reverse('message.body')} }`;

const encode = (code: string) => ({ path: '', code: Buffer.from(code).toString('base64') });
const scripts = {
  'javascript, JavaScript': encode(javascript(reverse('request.Body'))),
  'otto, JavaScript': encode(javascript(reverse('request.Body'))),
  'typescript, TypeScript in the sandbox': encode(typescript),
  'typescript, trusted TypeScript': { path: 'reverse.ts' },
};

describe('Bodies of plugins with raw_body_only', () => {
  let app: TestApp;
  let upstream: Upstream;
  const directory = mkdtempSync(join(tmpdir(), 'gw-plugin-bodies-'));
  before(async () => {
    writeFileSync(join(directory, 'reverse.ts'), typescript);
    const settings = { 'plugins.directory': directory, 'plugins.trusted': 'reverse.ts' };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const publishHook = (driver: string, list: string, source: object) =>
    publish(
      app,
      openApi(upstream, { custom_middleware: { driver, [list]: [{ name: 'mw', ...source, raw_body_only: true }] } }),
    );

  for (const [name, source] of Object.entries(scripts)) {
    const [driver, title] = name.split(', ') as [string, string];
    test(`a hook in ${title} (${driver}) changes the bytes of requests and responses that are no text`, async () => {
      upstream.answer = (_request, response) => void response.end(bytes);
      const response = await fetch(await publishHook(driver, 'response', source));
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), reversed);
      upstream.answer = undefined;
      const url = await publishHook(driver, 'pre', source);
      assert.equal((await fetch(url, { method: 'POST', body: bytes })).status, 200);
      assert.equal(upstream.requests.at(-1)!.body, reversed.toString());
      assert.equal(upstream.requests.at(-1)!.headers['content-length'], String(bytes.length));
    });
  }

  test('a body with a character that is no byte fails the hook', async () => {
    const url = await publishHook('javascript', 'pre', encode(javascript(`request.Body = '\\u20ac';`)));
    assert.equal((await fetch(url, { method: 'POST', body: bytes })).status, 500);
  });
});
