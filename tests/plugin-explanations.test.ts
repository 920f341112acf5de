import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

const encode = (code: string) => Buffer.from(code).toString('base64');
const hook = (name: string, body: string) => `const ${name} = new GwJS.GwMiddleware.NewMiddleware({});
${name}.NewProcessRequest(function (request, session, config) {
  ${body}
  return ${name}.ReturnData(request, {});
});`;
const responseHook = `const after = new GwJS.GwMiddleware.NewMiddleware({});
after.NewProcessResponse(function (response) {
  response.SetHeaders['X-After'] = 'private value'; response.Body = 'abc'; response.StatusCode = 202;
  return after.ReturnResponseData(response, {});
});`;

interface Explanation {
  readonly id: string;
  readonly steps: { readonly step: string; readonly message: string }[];
}

const withPlugins = (pre: readonly [name: string, code: string][]): BothFormats => ({
  classic: {
    custom_middleware: {
      driver: 'javascript',
      pre: pre.map(([name, code]) => ({ name, path: '', code: encode(code) })),
      response: [{ name: 'after', path: '', code: encode(responseHook) }],
    },
  },
  oas: {
    middleware: {
      global: {
        pluginConfig: { driver: 'javascript' },
        prePlugins: pre.map(([functionName, code]) => ({ enabled: true, functionName, code: encode(code) })),
        responsePlugins: [{ enabled: true, functionName: 'after', code: encode(responseHook) }],
      },
    },
  },
});

describe('Explanation of plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  async function explain(url: string, headers: Record<string, string> = {}) {
    const init = {
      method: 'POST',
      body: 'text',
      headers: { 'X-Gw-Explain': app.credentials.gateway_secret, ...headers },
    };
    const reply = await fetch(`${url}/x`, init);
    const explanation = JSON.parse(reply.headers.get('x-gw-explanation') ?? 'null') as Explanation;
    const { body } = await app.ask('GET', `/gw/explain/${explanation.id}`);
    const find = (step: string) => {
      const lines = (body.logs as string).split('\n').map(line => JSON.parse(line) as { mw?: string; msg: string });
      return lines.findLast(({ mw }) => mw === step)?.msg ?? '';
    };
    return { status: reply.status, find, logs: body.logs as string };
  }

  test('each hook is named with the headers, URL and body sizes that it changed, without values', async () => {
    const first = hook(
      'first',
      `request.SetHeaders['X-New'] = 'private value'; request.SetHeaders['X-Old'] = 'private value';
      request.DeleteHeaders.push('X-Gone'); request.Body = 'longer text'; request.URL = '/y';`,
    );
    const second = hook('second', '');
    for (const { url, format } of await publishBoth(
      app,
      upstream,
      withPlugins([
        ['first', first],
        ['second', second],
      ]),
    )) {
      const { status, find, logs } = await explain(url, { 'X-Old': 'before', 'X-Gone': 'private value' });
      assert.equal(status, 202, format);
      assert.equal(
        find('pre-plugins'),
        'passed (first: added x-new, removed x-gone, changed x-old, URL changed, body 4 to 11 bytes; second: no changes)',
      );
      assert.match(
        find('response-plugins'),
        /^changed the status to 202 \(after: added x-after, body \d+ to 3 bytes, status 200 to 202\)$/,
      );
      assert.ok(!logs.includes('private value'));
    }
  });

  test('a failure has file and line, without values of the request', async () => {
    const failing = hook('failing', "\n  throw new Error('not accepted: ' + request.Headers.Authorization[0]);");
    for (const { url } of await publishBoth(app, upstream, withPlugins([['failing', failing]]))) {
      const { status, find, logs } = await explain(url, { Authorization: 'Bearer planted-credential' });
      assert.equal(status, 500);
      assert.match(find('pre-plugins'), /^refused with 500: .*\(failing failed: failing\.js:4: not accepted: …\)$/);
      assert.ok(!logs.includes('planted-credential'));
    }
  });
});
