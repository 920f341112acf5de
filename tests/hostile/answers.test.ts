import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { TestApp } from '../support/app.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { onGround } from './ground.ts';

/** Framing headers of one response. */
const framingOf = (text: string) =>
  text
    .split('\r\n\r\n', 1)[0]!
    .split('\r\n')
    .map(line => line.split(':', 1)[0]!.toLowerCase())
    .filter(name => name === 'content-length' || name === 'transfer-encoding');

const last = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n');
const first = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

/** Publishes a mock with one example for every status. */
async function publishMock(app: TestApp): Promise<string> {
  const id = createPublicId();
  const body = {
    openapi: '3.0.3',
    info: { title: id, version: '1' },
    paths: {
      '/m': {
        get: {
          operationId: 'm',
          responses: { default: { description: '', content: { 'application/json': { example: { a: 1 } } } } },
        },
      },
    },
    'x-gw-api-gateway': {
      info: { id, name: id, state: { active: true } },
      upstream: { url: 'http://127.0.0.1:9' },
      server: { listenPath: { value: `/${id}/`, strip: true } },
      middleware: { operations: { m: { mockResponse: { enabled: true, fromOASExamples: { enabled: true } } } } },
    },
  };
  const { status, text } = await app.ask('POST', '/gw/apis/oas', { body });
  assert.equal(status, 200, text);
  await waitUntilApplied(app);
  return `/${id}/m`;
}

onGround('Responses set by definitions', ground => {
  const overriding = (headers: object, status: number) =>
    openApi(ground().upstream, {
      ...(status === 401 ? { use_keyless: false, use_standard_auth: true } : {}),
      error_overrides: { [status]: [{ response: { status_code: status, headers } }] },
    });

  for (const status of [401, 500])
    test(`an error override with framing or connection headers is not served (${status})`, async () => {
      const { app, upstream, send } = ground();
      upstream.answer = (_request, response) => void response.writeHead(500).end('0123456789');
      for (const headers of [
        { 'Transfer-Encoding': 'chunked' },
        { 'content-length': '5' },
        { Connection: 'upgrade', Upgrade: 'websocket' },
        { Trailer: 'x' },
        { 'X-A': 'a\u0001b' },
        { 'X-A': 'a\r\nSet-Cookie: b=c' },
      ]) {
        const url = new URL(await publish(app, overriding(headers, status)));
        const { text, statuses } = await send(last(`${url.pathname}/x`));
        assert.deepEqual(statuses, [503], `${JSON.stringify(headers)}: ${text}`);
        assert.deepEqual(framingOf(text), ['content-length']);
        assert.match(await findUnavailableReason(app, url.href), /the error override /);
      }
      upstream.answer = undefined;
    });

  test('a header of an error override with characters beyond latin-1 is sent as UTF-8', async () => {
    const { app, send } = ground();
    const url = new URL(await publish(app, overriding({ 'X-A': 'snow ☃' }, 401)));
    const { text } = await send(last(`${url.pathname}/x`));
    assert.match(text, /^HTTP\/1\.1 401 /);
    assert.equal(Buffer.from(/\r\nX-A: (.*)\r\n/.exec(text)![1]!, 'latin1').toString(), 'snow ☃');
  });

  test('a client that requests a mock with a 1xx or invalid status gets 400, and the next response stays its own', async () => {
    const { app, send } = ground();
    const path = await publishMock(app);
    for (const code of ['100', '101', '103', '199', '099']) {
      const { text, statuses } = await send(first(path, `X-Gw-Accept-Example-Code: ${code}`), last(path));
      assert.deepEqual(statuses, [400, 200], text);
    }
  });

  test('a definition with a response status that is not final is refused', async () => {
    const { app } = ground();
    const lists = (extended_paths: object) => ({
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
      },
    });
    for (const code of [1, 100, 101, 199, 600]) {
      for (const more of [
        lists({ mock_response: [{ path: '/m', method: 'GET', code, body: 'x' }] }),
        lists({ validate_json: [{ path: '/m', method: 'GET', schema: {}, error_response_code: code }] }),
        lists({ white_list: [{ path: '/m', method_actions: { GET: { action: 'reply', code, data: 'x' } } }] }),
      ]) {
        const body = { api_definition: openApi(ground().upstream, more) };
        const { status, text } = await app.ask('POST', '/api/apis', { body });
        assert.equal(status, 400, `${code}: ${text}`);
        assert.match(text, /code/);
      }
    }
  });
});
