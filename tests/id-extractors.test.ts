import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { findUnavailableReason, openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Authenticates every client for ten minutes, and marks requests that it checked. */
const script = `var auth = new GwJS.GwMiddleware.NewMiddleware({}); auth.NewProcessRequest(function (request, session, config) {
  request.SetHeaders['X-Checked'] = '1';
  var rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
  var deadline = Math.floor(Date.now() / 1000) + 600;
  return auth.ReturnAuthData(request, { access_rights: rights, id_extractor_deadline: deadline }, 'any'); });`;

/** Request whose source holds a text, beside something that differs each time. */
interface Sent {
  readonly search?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
let sent = 0;
const sources: Readonly<Record<string, (text: string) => Sent>> = {
  header: text => ({ headers: { 'x-id': text, 'x-other': String(sent++) } }),
  form: text => ({ headers: form, body: new URLSearchParams({ other: String(sent++), user: text }).toString() }),
  querystring: text => ({ search: `?${new URLSearchParams({ other: String(sent++), user: text })}` }),
  body: text => ({ headers: { 'content-type': 'text/plain', 'x-other': String(sent++) }, body: text }),
};
const names = { header_name: 'X-Id', param_name: 'user' };

/** Texts with an id, and members of the definition that select it. */
const methods: Readonly<Record<string, { config: object; toText(id: string, other: string): string }>> = {
  value: { config: {}, toText: id => id },
  regex: {
    config: { regex_expression: '[a-z]+[0-9]', regex_match_index: 1 },
    toText: (id, other) => `${other}8, ${id}9`,
  },
  xpath: {
    config: { xpath_expression: '//user/@id' },
    toText: (id, other) => `<a><user id="${id}">${other}</user></a>`,
  },
};

describe('Id extractors', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const extract = (source: string, method: string, config: object) =>
    publish(
      app,
      openApi(upstream, {
        use_keyless: false,
        custom_plugin_auth_enabled: true,
        auth_configs: { coprocess: { disable_header: false, auth_header_name: 'X-Pass' } },
        custom_middleware: {
          driver: 'otto',
          auth_check: { name: 'auth', path: '', code: Buffer.from(script).toString('base64') },
          id_extractor: {
            disabled: false,
            extract_from: source,
            extract_with: method,
            extractor_config: { ...names, ...config },
          },
        },
      }),
    );
  const send = (url: string, { search = '', headers = {}, body = '' }: Sent) =>
    fetch(url + search, { method: 'POST', headers, body });
  /** True where the plugin was called for this request. */
  const isChecked = async (url: string, request: Sent) => {
    const reply = await send(url, request);
    assert.equal(reply.status, 200, await reply.text());
    return upstream.requests.at(-1)!.headers['x-checked'] === '1';
  };

  for (const [source, toRequest] of Object.entries(sources))
    for (const [method, { config, toText }] of Object.entries(methods)) {
      if (source === 'body' && method === 'value') continue;
      test(`a ${method} of the ${source} identifies a client, whose session is cached`, async () => {
        const url = await extract(source, method, config);
        const isNew = (id: string, other: string) => isChecked(url, toRequest(toText(id, other)));
        assert.deepEqual(
          [await isNew('ann', 'x'), await isNew('ann', 'y'), await isNew('bob', 'x'), await isNew('bob', 'z')],
          [true, false, true, false],
        );
        const missing = await send(url, { body: 'none' });
        assert.deepEqual([missing.status, await missing.json()], [400, { error: 'Authorization field missing' }]);
      });
    }

  test('an API that takes the whole body for an id is not served', async () => {
    const url = await extract('body', 'value', {});
    assert.equal((await send(url, { body: 'ann' })).status, 503);
    assert.match(await findUnavailableReason(app, url), /cannot extract a value from "body"/);
  });

  test('a regular expression with backtracking on a long body ends', async () => {
    const url = await extract('body', 'regex', { regex_expression: '(a+)+b', regex_match_index: 0 });
    assert.equal((await send(url, { body: 'a'.repeat(50_000) })).status, 400);
  });
});
