import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { publishBoth } from './support/both-formats.ts';
import { findUnavailableReason } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Error overrides', () => {
  let app: TestApp;
  let upstream: Upstream;
  const templates = mkdtempSync(join(tmpdir(), 'gw-templates-'));
  before(async () => {
    writeFileSync(join(templates, 'sorry.json'), '{"file": "{{.Message}}", "code": {{.StatusCode}}}');
    writeFileSync(join(templates, 'sorry.xml'), '<file code="{{.StatusCode}}">{{.Message}}</file>');
    const everywhere = {
      '418': [{ response: { body: 'the gateway’s pot' } }],
      '5xx': [{ match: { flag: 'DNS' }, response: { message: 'nobody of that name' } }],
    };
    const settings = {
      'gateway.error_overrides': JSON.stringify(everywhere),
      'templates.directory': templates,
    };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
    upstream.answer = (request, response) => {
      const [, status, body = ''] = request.url!.split('/');
      const type = { 'content-type': 'text/html', etag: '"1"', 'content-encoding': 'identity' };
      response.writeHead(Number(status), type).end(decodeURIComponent(body));
    };
  });
  after(async () => {
    await app.close();
    await upstream.close();
    rmSync(templates, { recursive: true });
  });

  type Rule = { match?: Record<string, string>; response: Record<string, unknown> };
  const toUnderscored = (text: string) =>
    text.replaceAll(/"(messagePattern|bodyField|bodyValue|statusCode)":/g, name =>
      name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
    );
  const publishOverrides = (rules: Record<string, Rule[]>, more: { classic?: object; oas?: object } = {}) =>
    publishBoth(app, upstream, {
      classic: { error_overrides: JSON.parse(toUnderscored(JSON.stringify(rules))), ...more.classic },
      oas: { errorOverrides: { enabled: true, value: rules }, server: { ...more.oas } },
    });
  const guarded = { classic: { use_keyless: false }, oas: { authentication: { enabled: true } } };
  const fetchError = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await fetch(url, { headers });
    return [reply.status, reply.headers.get('content-type'), await reply.text()];
  };

  test('a refusal is matched by status, flag, code or message, and gets another status, body and headers', async () => {
    const response = {
      statusCode: 418,
      body: '{"why": "{{.Message}}", "was": {{.StatusCode}}}',
      headers: { 'X-Help': 'here' },
    };
    const overridden = [418, 'application/json', '{"why": "Authorization field missing", "was": 418}'];
    const matches: (Record<string, string> | undefined)[] = [
      undefined,
      { flag: 'AMF' },
      { flag: 'auth_field_missing' },
      { messagePattern: '^Author.*missing$' },
      { flag: 'RLT', messagePattern: 'field' },
    ];
    for (const match of matches) {
      const rule = match ? { match, response } : { response };
      for (const { url, format } of await publishOverrides({ '401': [rule] }, guarded)) {
        assert.deepEqual(await fetchError(`${url}/200`), overridden, `${format} ${JSON.stringify(match)}`);
        assert.equal((await fetch(`${url}/200`)).headers.get('x-help'), 'here');
      }
    }
  });

  const plain = [401, 'application/json', '{\n    "error": "Authorization field missing"\n}'];
  test('a response that matches no rule is unchanged', async () => {
    const response = { body: 'other' };
    const others: Record<string, string>[] = [
      { flag: 'RLT' },
      { messagePattern: 'quota' },
      { bodyField: 'error', bodyValue: 'x' },
    ];
    for (const match of others) {
      for (const { url, format } of await publishOverrides({ '4xx': [{ match, response }] }, guarded))
        assert.deepEqual(await fetchError(`${url}/200`), plain, `${format} ${JSON.stringify(match)}`);
    }
    for (const { url } of await publishOverrides({ '403': [{ response }], '5xx': [{ response }] }, guarded))
      assert.deepEqual(await fetchError(`${url}/200`), plain);
  });

  test('the first match applies: exact statuses before classes, rules of the API before those of the gateway', async () => {
    const says = (body: string, match?: Record<string, string>) =>
      match ? { match, response: { body } } : { response: { body } };
    const rules = {
      '4xx': [says('class')],
      '404': [says('never', { messagePattern: 'zzz' }), says('first'), says('second')],
      '418': [says('own pot', { messagePattern: 'own' })],
    };
    for (const { url, format } of await publishOverrides(rules)) {
      assert.equal((await fetchError(`${url}/404/x`))[2], 'first', format);
      assert.equal((await fetchError(`${url}/410/x`))[2], 'class', format);
      assert.equal((await fetchError(`${url}/418/own`))[2], 'own pot', format);
      assert.equal((await fetchError(`${url}/418/x`))[2], 'class', format);
      assert.deepEqual(await fetchError(`${url}/200/x`), [200, 'text/html', 'x']);
    }
    for (const { url } of await publishBoth(app, upstream, { classic: {}, oas: {} }))
      assert.equal((await fetchError(`${url}/418/x`))[2], 'the gateway’s pot');
  });

  test('an upstream error is matched by a JSON member, by its body, or by its status', async () => {
    const rules: Record<string, Rule[]> = {
      '4xx': [
        { match: { bodyField: 'error.0.code', bodyValue: '7' }, response: { message: 'seven' } },
        { match: { messagePattern: 'se+cret' }, response: { statusCode: 400, body: '<e>{{.Message}}</e>' } },
      ],
      '5xx': [{ match: { flag: 'URS' }, response: { statusCode: 502, message: 'behind us' } }],
    };
    for (const { url, format } of await publishOverrides(rules)) {
      const seven = encodeURIComponent('{"error":[{"code":7}]}');
      assert.deepEqual(
        await fetchError(`${url}/404/${seven}`),
        [404, 'application/json', '{\n    "error": "seven"\n}'],
        format,
      );
      assert.deepEqual(
        await fetchError(`${url}/404/a%20seecret`),
        [400, 'application/xml', '<e>Bad Request</e>'],
        format,
      );
      assert.deepEqual(await fetchError(`${url}/404/fine`), [404, 'text/html', 'fine'], format);
      assert.deepEqual(
        await fetchError(`${url}/503/x`),
        [502, 'application/json', '{\n    "error": "behind us"\n}'],
        format,
      );
      const { headers } = await fetch(`${url}/503/x`);
      assert.deepEqual([headers.get('etag'), headers.get('content-encoding')], [null, null]);
    }
  });

  test('status and headers can change while the body streams through', async () => {
    for (const { url, format } of await publishOverrides({
      '500': [{ response: { statusCode: 503, headers: { 'Retry-After': '9' } } }],
    })) {
      const reply = await fetch(`${url}/500/body`);
      assert.deepEqual(
        [reply.status, reply.headers.get('retry-after'), await reply.text()],
        [503, '9', 'body'],
        format,
      );
    }
  });

  test('a template file is chosen by the client’s format; body takes precedence over it, and it over message', async () => {
    const response = { template: 'sorry', message: 'a "word" <b>' };
    for (const { url, format } of await publishOverrides({ '401': [{ response }] }, guarded)) {
      assert.deepEqual(
        await fetchError(`${url}/x`),
        [401, 'application/json', '{"file": "a \\"word\\" <b>", "code": 401}'],
        format,
      );
      const asXml = await fetchError(`${url}/x`, { 'content-type': 'text/xml' });
      assert.deepEqual(asXml, [401, 'application/xml', '<file code="401">a &#34;word&#34; &lt;b&gt;</file>']);
    }
    for (const { url } of await publishOverrides({ '401': [{ response: { ...response, body: 'written' } }] }, guarded))
      assert.equal((await fetchError(`${url}/x`))[2], 'written');
  });

  test('rules of the gateway apply to every API, also without an upstream response', async () => {
    const nowhere = 'http://nowhere.invalid';
    const both = await publishBoth(app, upstream, {
      classic: { proxy: { target_url: nowhere } },
      oas: { upstream: { url: nowhere } },
    });
    for (const { url, format } of both)
      assert.deepEqual((await fetchError(`${url}/x`))[2], '{\n    "error": "nobody of that name"\n}', format);
  });

  test('disabled overrides have no effect', async () => {
    const rules = { '401': [{ response: { body: 'other' } }] };
    const [classic] = await publishOverrides(rules, {
      ...guarded,
      classic: { use_keyless: false, error_overrides_disabled: true },
    });
    assert.deepEqual(await fetchError(`${classic!.url}/x`), plain);
  });

  const broken: [what: string, rules: Record<string, unknown[]>][] = [
    ['is neither a status nor a status class such as 4xx', { '4x': [] }],
    [
      'has a pattern that is not a valid regular expression',
      { '401': [{ match: { messagePattern: '(' }, response: {} }] },
    ],
    ['has an invalid template', { '401': [{ response: { body: '{{.Message' } }] }],
    [
      'references the template ../x, which is not in templates.directory',
      { '401': [{ response: { template: '../x' } }] },
    ],
    ['holds no rules', { '401': [{ response: { statusCode: 99 } }] }],
  ];
  for (const [what, rules] of broken) {
    test(`an API with a rule that ${what} is not served, and its status names the reason`, async () => {
      for (const { url } of await publishOverrides(rules as Record<string, Rule[]>)) {
        const reason = await findUnavailableReason(app, `${url}/x`);
        assert.ok(reason.includes(what), reason);
      }
    });
  }
});
