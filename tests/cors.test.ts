import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('CORS', () => {
  let app: TestApp;
  let upstream: Upstream;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite'), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });

  interface Rules {
    origins?: string[];
    methods?: string[];
    headers?: string[];
    exposed?: string[];
    credentials?: boolean;
    maxAge?: number;
    passthrough?: boolean;
  }
  const publishCors = (rules: Rules, more: { classic?: object; oas?: Record<string, object> } = {}) => {
    const { origins = [], methods = [], headers = [], exposed = [] } = rules;
    const { credentials = false, maxAge = 0, passthrough = false } = rules;
    return publishBoth(app, upstream, {
      classic: {
        CORS: {
          enable: true,
          allowed_origins: origins,
          allowed_methods: methods,
          allowed_headers: headers,
          exposed_headers: exposed,
          allow_credentials: credentials,
          max_age: maxAge,
          options_passthrough: passthrough,
        },
        ...more.classic,
      },
      oas: {
        middleware: {
          global: {
            cors: {
              enabled: true,
              allowedOrigins: origins,
              allowedMethods: methods,
              allowedHeaders: headers,
              exposedHeaders: exposed,
              allowCredentials: credentials,
              maxAge,
              optionsPassthrough: passthrough,
            },
          },
        },
        ...more.oas,
      },
    });
  };
  const guarded = {
    classic: { use_keyless: false },
    oas: { server: { authentication: { enabled: true } } },
  };
  const fetchCorsHeaders = async ({ url }: Published, method: string, headers: Record<string, string>) => {
    const reply = await fetch(`${url}/x`, { method, headers });
    const text = await reply.text();
    const named = [...reply.headers].filter(([name]) => name.startsWith('access-control-'));
    const cors = Object.fromEntries(named.map(([name, value]) => [name.slice('access-control-'.length), value]));
    return { status: reply.status, cors, vary: reply.headers.get('vary'), text };
  };
  const preflight = (origin: string, method: string, headers?: string) => ({
    origin,
    'access-control-request-method': method,
    ...(headers === undefined ? {} : { 'access-control-request-headers': headers }),
  });
  const allVary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';

  test('a preflight request is answered by the gateway without a key', async () => {
    const rules = { origins: ['https://a.example'], methods: ['PATCH'], headers: ['X-One', 'x-two'] };
    for (const api of await publishCors({ ...rules, credentials: true, maxAge: 24 }, guarded)) {
      upstream.requests.length = 0;
      assert.deepEqual(
        await fetchCorsHeaders(api, 'OPTIONS', preflight('https://A.example', 'PATCH', 'x-ONE, x-two')),
        {
          status: 204,
          cors: {
            'allow-origin': 'https://A.example',
            'allow-credentials': 'true',
            'allow-methods': 'PATCH',
            'allow-headers': 'x-ONE, x-two',
            'max-age': '24',
          },
          vary: allVary,
          text: '',
        },
      );
      const refused = { status: 204, cors: {}, vary: allVary, text: '' };
      assert.deepEqual(await fetchCorsHeaders(api, 'OPTIONS', preflight('https://b.example', 'PATCH')), refused);
      assert.deepEqual(await fetchCorsHeaders(api, 'OPTIONS', preflight('https://a.example', 'DELETE')), refused);
      assert.deepEqual(
        await fetchCorsHeaders(api, 'OPTIONS', preflight('https://a.example', 'PATCH', 'x-three')),
        refused,
      );
      assert.equal(upstream.requests.length, 0, api.format);
    }
  });

  test('without allowed origins the response has *, never the origin, also with credentials', async () => {
    for (const api of await publishCors({ credentials: true, exposed: ['X-Seen', 'X-Too'] })) {
      const { status, cors, vary } = await fetchCorsHeaders(api, 'GET', { origin: 'https://anywhere.example' });
      const expected = { 'allow-origin': '*', 'allow-credentials': 'true', 'expose-headers': 'X-Seen, X-Too' };
      assert.deepEqual([status, cors, vary], [200, expected, 'Origin'], api.format);
      const asked = await fetchCorsHeaders(
        api,
        'OPTIONS',
        preflight('null', 'POST', 'content-type,accept, x-requested-with'),
      );
      assert.equal(asked.cors['allow-origin'], '*');
      assert.deepEqual((await fetchCorsHeaders(api, 'OPTIONS', preflight('null', 'PUT'))).cors, {});
      assert.deepEqual((await fetchCorsHeaders(api, 'OPTIONS', preflight('null', 'GET', 'x-other'))).cors, {});
    }
  });

  const fits: readonly [origin: string, fits: boolean][] = [
    ['https://a.example.org', true],
    ['https://A.Example.org', true],
    ['https://.example.org', true],
    ['https://example.org', false],
    ['https://a.example.org.evil.net', false],
    ['https://evil.net/.example.org', false],
    ['https://evil.net#.example.org', false],
    ['https://user@evil.net?.example.org', false],
    ['http://a.example.org', false],
    ['http://localhost:8080', true],
    ['null', false],
  ];
  test('one * in an allowed origin matches only characters of a host', async () => {
    const origins = ['https://*.example.org', 'http://localhost:*'];
    for (const api of await publishCors({ origins, credentials: true })) {
      for (const [origin, isAllowed] of fits) {
        const { status, cors, vary } = await fetchCorsHeaders(api, 'GET', { origin });
        const expected = isAllowed ? { 'allow-origin': origin, 'allow-credentials': 'true' } : {};
        assert.deepEqual([status, cors, vary], [200, expected, 'Origin'], `${api.format} ${origin}`);
      }
    }
  });

  test('* in headers and methods allows any, and a negative max_age forbids caching', async () => {
    for (const api of await publishCors({ headers: ['*'], methods: ['*'], maxAge: -1 })) {
      const { cors } = await fetchCorsHeaders(api, 'OPTIONS', preflight('https://a.example', 'PURGE', 'x-any'));
      const expected = { 'allow-origin': '*', 'allow-methods': 'PURGE', 'allow-headers': 'x-any', 'max-age': '0' };
      assert.deepEqual(cors, expected, api.format);
    }
  });

  test('an OPTIONS request that is no preflight gets an empty 200', async () => {
    for (const api of await publishCors({}, guarded)) {
      const { status, cors, text } = await fetchCorsHeaders(api, 'OPTIONS', { origin: 'https://a.example' });
      assert.deepEqual([status, cors, text], [200, { 'allow-origin': '*' }, ''], api.format);
    }
  });

  test('an API with an expiry sends it beside the CORS headers, on responses and refusals', async () => {
    const expiring = {
      classic: { ...guarded.classic, expiration: '2999-01-01 00:00' },
      oas: { ...guarded.oas, info: { expiration: '2999-01-01 00:00' } },
    };
    for (const api of await publishCors({ origins: ['https://a.example'] }, expiring)) {
      const reply = await fetch(`${api.url}/x`, { headers: { origin: 'https://a.example' } });
      await reply.text();
      assert.equal(reply.status, 401);
      assert.equal(reply.headers.get('x-gw-api-expires'), 'Tue, 01 Jan 2999 00:00:00 GMT', api.format);
      assert.equal(reply.headers.get('access-control-allow-origin'), 'https://a.example', api.format);
      assert.equal(reply.headers.get('vary'), 'Origin', api.format);
    }
  });

  test('refusals and upstream failures carry the CORS headers', async () => {
    const nowhere = { url: 'http://127.0.0.1:1' };
    const rules = { origins: ['https://a.example'] };
    for (const api of await publishCors(rules, guarded)) {
      const { status, cors, vary } = await fetchCorsHeaders(api, 'GET', { origin: 'https://a.example' });
      assert.deepEqual([status, cors, vary], [401, { 'allow-origin': 'https://a.example' }, 'Origin'], api.format);
    }
    const dead = { classic: { proxy: { target_url: nowhere.url } }, oas: { upstream: nowhere } };
    for (const api of await publishCors(rules, dead)) {
      const { status, cors } = await fetchCorsHeaders(api, 'GET', { origin: 'https://a.example' });
      assert.deepEqual([status, cors], [502, { 'allow-origin': 'https://a.example' }], api.format);
    }
  });

  test('CORS headers of the upstream are replaced, not duplicated', async () => {
    upstream.answer = (_request, response) => {
      response.setHeader('Access-Control-Allow-Origin', 'https://evil.example');
      response.setHeader('access-control-allow-credentials', 'true');
      response.setHeader('Vary', 'Accept-Encoding');
      response.end('{}');
    };
    try {
      for (const api of await publishCors({ origins: ['https://a.example'] })) {
        const own = await fetchCorsHeaders(api, 'GET', { origin: 'https://a.example' });
        assert.deepEqual([own.cors, own.vary], [{ 'allow-origin': 'https://a.example' }, 'Accept-Encoding, Origin']);
        assert.deepEqual((await fetchCorsHeaders(api, 'GET', { origin: 'https://evil.example' })).cors, {}, api.format);
      }
    } finally {
      upstream.answer = undefined;
    }
  });

  test('with options_passthrough every OPTIONS request reaches the upstream without a key, and no header is added', async () => {
    upstream.answer = (_request, response) => {
      response.setHeader('Access-Control-Allow-Origin', 'https://theirs.example');
      response.writeHead(202).end('theirs');
    };
    try {
      for (const api of await publishCors({ passthrough: true }, guarded)) {
        const theirs = { status: 202, cors: { 'allow-origin': 'https://theirs.example' }, vary: null, text: 'theirs' };
        assert.deepEqual(await fetchCorsHeaders(api, 'OPTIONS', preflight('https://a.example', 'GET')), theirs);
        assert.deepEqual(await fetchCorsHeaders(api, 'OPTIONS', {}), theirs);
        assert.equal((await fetchCorsHeaders(api, 'GET', {})).status, 401, api.format);
      }
    } finally {
      upstream.answer = undefined;
    }
  });

  test('OAuth endpoints of an API carry the CORS headers', async () => {
    const oauth = {
      use_keyless: false,
      use_oauth2: true,
      oauth_meta: { allowed_access_types: ['client_credentials'] },
    };
    const [api] = await publishCors({ origins: ['https://a.example'] }, { classic: oauth });
    const headers = preflight('https://a.example', 'POST', 'content-type');
    const asked = await fetch(`${api!.url}/oauth/token`, { method: 'OPTIONS', headers });
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get('access-control-allow-origin'), 'https://a.example');
    const answered = await fetch(`${api!.url}/oauth/token`, {
      method: 'POST',
      headers: { origin: 'https://a.example' },
    });
    assert.equal(answered.headers.get('access-control-allow-origin'), 'https://a.example');
  });
});
