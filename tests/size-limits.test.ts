import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { call, statusesIn } from './hostile/raw.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, type Published, publishBoth } from './support/both-formats.ts';
import { errorBody } from './support/step-harness.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** A limit for the API, and one for an endpoint; 0 for none. */
const createSizeLimits = (everywhere: number, endpoint: number, isOff = false): BothFormats => ({
  classic: {
    version_data: {
      not_versioned: true,
      versions: {
        Default: {
          name: 'Default',
          global_size_limit: everywhere,
          global_size_limit_disabled: isOff,
          use_extended_paths: true,
          extended_paths: { size_limits: [{ path: '/small', method: 'POST', size_limit: endpoint }] },
        },
      },
    },
  },
  oas: {
    middleware: {
      global: { requestSizeLimit: { enabled: !isOff, value: everywhere } },
      operations: { small: { requestSizeLimit: { enabled: true, value: endpoint } } },
    },
  },
  document: { paths: { '/small': { post: { operationId: 'small', responses: {} } } } },
});

const createChunkedBody = (...texts: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });

async function send({ url }: Published, path: string, body: string | ReadableStream | undefined, method = 'POST') {
  const reply = await fetch(url + path, {
    method,
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit);
  return [reply.status, reply.status === 200 ? '' : await reply.text()];
}

const passes = [200, ''];
const tooLarge = [400, errorBody('Request is too large')];
const unsaid = [411, errorBody('Content length is required for this request')];

for (const mustSay of [true, false]) {
  describe(`Request size limits, content-length ${mustSay ? 'required' : 'optional'}`, () => {
    let app: TestApp;
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
      app = await startApp('sqlite', { settings: { 'gateway.require_content_length': String(mustSay) } });
    });
    after(async () => {
      await app?.close();
      await upstream?.close();
    });

    test('the limits of an endpoint and of the API both apply', async () => {
      for (const api of await publishBoth(app, upstream, createSizeLimits(10, 5))) {
        assert.deepEqual(await send(api, '/small', '12345'), passes, api.format);
        assert.deepEqual(await send(api, '/small', '123456'), tooLarge, api.format);
        assert.deepEqual(await send(api, '/other', '1234567890'), passes, api.format);
        assert.deepEqual(await send(api, '/other', '12345678901', 'PUT'), tooLarge, api.format);
        assert.deepEqual(await send(api, '/other', '12345678901', 'DELETE'), passes, api.format);
        assert.deepEqual(await send(api, '/other', undefined, 'GET'), passes, api.format);
      }
    });

    test('the limit of the API applies to endpoints with a larger one', async () => {
      for (const api of await publishBoth(app, upstream, createSizeLimits(5, 10)))
        assert.deepEqual(await send(api, '/small', '123456'), tooLarge, api.format);
    });

    test('a limit that is disabled or 0 has no effect', async () => {
      for (const api of await publishBoth(app, upstream, createSizeLimits(5, 0, true)))
        assert.deepEqual(await send(api, '/small', '123456'), passes, api.format);
    });

    if (mustSay) {
      test('a body without content-length gets 411', async () => {
        for (const api of await publishBoth(app, upstream, createSizeLimits(10, 5)))
          assert.deepEqual(await send(api, '/small', createChunkedBody('1')), unsaid, api.format);
      });
    } else {
      test('a body without content-length is checked while it is read', async () => {
        for (const api of await publishBoth(app, upstream, createSizeLimits(10, 5))) {
          assert.deepEqual(await send(api, '/small', createChunkedBody('123', '45')), passes, api.format);
          assert.deepEqual(await send(api, '/small', createChunkedBody('123', '456')), tooLarge, api.format);
          assert.deepEqual(await send(api, '/other', createChunkedBody('12345', '67890')), passes, api.format);
        }
      });

      test('it is refused before its end, without being buffered', async () => {
        const [api] = await publishBoth(app, upstream, createSizeLimits(100_000, 0));
        const { port, pathname } = new URL(api!.url);
        const caller = await call(Number(port));
        caller.send(`POST ${pathname}/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
        for (let sent = 0; sent < 11; sent++) caller.send(`2710\r\n${'x'.repeat(10_000)}\r\n`);
        await caller.until(/Request is too large/);
        assert.deepEqual(statusesIn(caller.received()), [400]);
        caller.leave();
      });
    }
  });
}
