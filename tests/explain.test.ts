import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { rememberSecrets, startApp, type TestApp } from './support/app.ts';
import { type Published, publishBoth } from './support/both-formats.ts';
import { eventually, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

interface Step {
  step: string;
  message: string;
  ms?: number;
  code?: number;
  refusal?: string;
}
interface Explanation {
  id: string;
  steps: Step[];
  left?: number;
}
interface Line {
  mw?: string;
  msg: string;
  settings?: Record<string, Record<string, unknown>>;
  refusal?: string;
  took_ms?: number;
}

describe('Request explanation', () => {
  let app: TestApp;
  let upstream: Upstream;
  const lines: string[] = [];
  before(async () => {
    const onTrafficLog = (text: string) => lines.push(...text.trim().split('\n'));
    [app, upstream] = await Promise.all([startApp('sqlite', { onTrafficLog }), startUpstream()]);
  });
  after(async () => {
    await app.close();
    await upstream.close();
  });
  const secret = () => app.credentials.gateway_secret;
  const canary = 'canary-in-a-definition';
  const publishGuarded = () =>
    publishBoth(app, upstream, {
      classic: {
        use_keyless: false,
        enable_detailed_recording: true,
        enable_ip_blacklisting: true,
        blacklisted_ips: ['192.0.2.1'],
        auth_configs: {
          authToken: {
            auth_header_name: 'Authorization',
            validate_signature: false,
            signature: { secret: canary, algorithm: 'MasherySHA256' },
          },
        },
      },
      oas: {
        server: {
          authentication: { enabled: true },
          ipAccessControl: { enabled: true, block: ['192.0.2.1'] },
          detailedActivityLogs: { enabled: true },
        },
        middleware: { global: { trafficLogs: { enabled: true } } },
      },
    });
  const call = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });
  const fetchExplanation = async (url: string, headers: Record<string, string> = {}) => {
    const reply = await call(url, { 'X-Gw-Explain': secret(), ...headers });
    const explanation = JSON.parse(reply.headers.get('x-gw-explanation') ?? 'null') as Explanation;
    return { reply, explanation, text: await reply.text() };
  };
  const logs = async (id: string) => {
    const { status, body, text } = await app.ask('GET', `/gw/explain/${id}`);
    assert.equal(status, 200, text);
    assert.equal(body.id, id);
    return (body.logs as string).split('\n').map(line => JSON.parse(line) as Line);
  };
  async function keyFor({ apiId }: Published): Promise<string> {
    const { body } = await app.ask('POST', '/api/keys', {
      body: { rate: 2, per: 1000, access_rights: { [apiId]: { versions: ['Default'] } } },
    });
    rememberSecrets({ key: body.key_id });
    await waitUntilApplied(app);
    return body.key_id;
  }

  test('a response names each step with its decision and duration, and the full explanation is read by id', async () => {
    for (const api of await publishGuarded()) {
      const refused = await fetchExplanation(`${api.url}/x`);
      assert.equal(refused.reply.status, 401);
      const last = refused.explanation.steps.at(-1)!;
      assert.deepEqual([last.step, last.code, last.refusal], ['token', 401, 'auth_field_missing'], api.format);
      assert.match(last.message, /^refused with 401: Authorization field missing/);
      assert.ok(refused.explanation.steps.every(({ ms }) => typeof ms === 'number'));

      const key = await keyFor(api);
      const passed = await fetchExplanation(`${api.url}/x`, { authorization: key });
      assert.equal(passed.reply.status, 200);
      const names = passed.explanation.steps.map(({ step }) => step);
      for (const name of ['version', 'ip-access', 'token', 'access-rights', 'key-limits', 'upstream'])
        assert.ok(names.includes(name), `${api.format} ${name} in ${names}`);
      const lines = await logs(passed.explanation.id);
      const ip = lines.find(({ mw }) => mw === 'ip-access')!;
      assert.deepEqual(ip.settings?.ipAccess?.block, ['192.0.2.1']);
      assert.equal(lines.find(({ mw }) => mw === 'upstream')!.msg, `sent GET ${upstream.url}/x`);
      assert.ok(lines.some(({ msg }) => msg === 'the client gets status 200'));
      assert.ok(!JSON.stringify(lines).includes(key), 'a key in an explanation');
      assert.ok(!JSON.stringify(lines).includes(canary), 'a secret of the definition in an explanation');
    }
  });

  test('a path that no API has a listen path for is explained with the listen path nearby, and only to holders of the secret', async () => {
    const definition = openApi(upstream, { proxy: { listen_path: '/Shop-of-tests/' } });
    await publish(app, definition);
    for (const [path, message] of [
      ['/Shop-of-tests', 'no API has a listen path for /Shop-of-tests; there is one at /Shop-of-tests/'],
      ['/shop-of-tests/x', 'no API has a listen path for /shop-of-tests/x; there is one at /Shop-of-tests/'],
      ['/nowhere/x', 'no API has a listen path for /nowhere/x'],
    ] as const) {
      const { reply, explanation, text } = await fetchExplanation(app.url.gateway + path);
      assert.deepEqual([reply.status, text], [404, 'Not Found']);
      assert.deepEqual(explanation.steps, [{ step: 'route', message, code: 404, refusal: 'route_unknown' }]);
      const plain = await call(app.url.gateway + path, { 'X-Gw-Explain': 'wrong' });
      assert.deepEqual([await plain.text(), plain.headers.get('x-gw-explanation')], ['Not Found', null]);
      assert.equal(plain.headers.get('x-generator'), 'gatewright');
      assert.equal(plain.headers.get('content-type'), 'text/plain; charset=utf-8');
    }
  });

  test('a path that begins with the id of an API is explained as one that no API has a listen path for', async () => {
    const definition = openApi(upstream);
    await publish(app, definition);
    const { explanation } = await fetchExplanation(`${app.url.gateway}/${definition.api_id}`);
    assert.deepEqual(
      explanation.steps.map(({ step, message }) => [step, message]),
      [['route', `no API has a listen path for /${definition.api_id}`]],
    );
  });

  test('an upstream failure is explained with its reason, which clients do not receive', async () => {
    const gone = await startUpstream();
    await gone.close();
    const definition = openApi(gone);
    await publish(app, definition);
    const { reply, explanation, text } = await fetchExplanation(`${app.url.gateway}${definition.proxy.listen_path}/x`);
    assert.equal(reply.status, 502);
    const last = explanation.steps.at(-1)!;
    assert.deepEqual([last.step, last.refusal], ['upstream', 'upstream_failed']);
    assert.match(last.message, /^failed: connection_refused: connect ECONNREFUSED 127\.0\.0\.1:/);
    assert.doesNotMatch(text, /ECONNREFUSED/);
    assert.ok((await logs(explanation.id)).some(({ msg }) => msg === last.message));
  });

  test('an explained request counts against limits', async () => {
    const [api] = (await publishGuarded()) as [Published];
    const key = await keyFor(api);
    const statuses = [];
    for (let n = 0; n < 3; n++)
      statuses.push((await fetchExplanation(`${api.url}/x`, { authorization: key })).reply.status);
    assert.deepEqual(statuses, [200, 200, 429]);
    assert.equal((await call(`${api.url}/x`, { authorization: key })).status, 429);
  });

  test('without a valid secret there is no explanation, and the secret is neither forwarded nor recorded', async () => {
    for (const api of await publishGuarded()) {
      const authorization = await keyFor(api);
      for (const given of ['wrong', `${secret()}x`, '', secret().slice(1), secret()]) {
        upstream.requests.length = 0;
        const { reply } = await fetchExplanation(`${api.url}/x`, { authorization, 'X-Gw-Explain': given });
        const isRight = given === secret();
        assert.equal(reply.headers.has('x-gw-explanation'), isRight, `${api.format} ${isRight}`);
        for (const { rawHeaders } of upstream.requests)
          assert.ok(
            !rawHeaders.some(text => text.toLowerCase() === 'x-gw-explain' || text === given || text === secret()),
          );
      }
      await eventually(async () => {
        const { body, text } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${api.apiId}`);
        assert.ok(body.data.length >= 5, text);
        const raw = text + body.data.map((it: { raw_request?: string }) => atob(it.raw_request ?? '')).join();
        assert.ok(!raw.includes(secret()) && !/x-gw-explain/i.test(raw));
      });
    }
  });

  test('a wrong secret gets the same response as none', async () => {
    const url = await publish(app, openApi(upstream));
    const replies = await Promise.all(Array.from({ length: 60 }, () => call(`${url}/x`, { 'X-Gw-Explain': 'guess' })));
    assert.ok(replies.every(({ status, headers }) => status === 200 && !headers.has('x-gw-explanation')));
  });

  test('unrouted requests, loops and failing upstreams are explained', async () => {
    const second = () =>
      eventually(async () => {
        const { explanation, reply } = await fetchExplanation(`${app.url.gateway}/nothing-here`);
        assert.equal(reply.status, 404);
        assert.ok(explanation, 'explained');
        return explanation;
      });
    assert.deepEqual(
      (await second()).steps.map(({ step }) => step),
      ['route'],
    );
    const inner = openApi(upstream, { name: 'inner one' });
    await publish(app, inner);
    const url = await publish(app, openApi({ url: `gw://${inner.api_id}/deep` }));
    const looped = await eventually(async () => {
      const { explanation, reply } = await fetchExplanation(`${url}/y`);
      assert.equal(reply.status, 200);
      assert.ok(explanation);
      return explanation;
    });
    assert.equal(looped.steps.find(({ step }) => step === 'upstream')!.message, `sent GET ${upstream.url}/deep/y`);
    const dead = await publish(app, openApi({ url: 'http://127.0.0.1:1' }));
    await eventually(async () => {
      const { reply, explanation } = await fetchExplanation(`${dead}/z`);
      assert.equal(reply.status, 502);
      assert.ok(explanation);
    });
  });

  test('the reason why an API is not served is in the explanation and the log, and in no response', async () => {
    const needs = 'no-such-certificate';
    const definition = openApi(upstream, { use_mutual_tls_auth: true, client_certificates: [needs] });
    const url = await publish(app, definition);
    const plain = await call(url);
    assert.deepEqual([plain.status, await plain.json()], [503, { error: 'This API is not available' }]);
    const { reply, explanation, text } = await fetchExplanation(url);
    assert.deepEqual([reply.status, JSON.parse(text)], [503, { error: 'This API is not available' }]);
    const reason = `the client certificate ${needs} is not in the certificate store`;
    assert.equal(explanation.steps[0]!.message, `The API is not served: ${reason}`);
    const logged = lines.map(line => JSON.parse(line)).filter(({ api }) => api === definition.api_id);
    assert.deepEqual([logged[0].msg, logged[0].reason], ['API not served', reason]);
  });

  test('an unknown id gets 404, and an explanation cannot be read without the secret', async () => {
    assert.equal((await app.ask('GET', '/gw/explain/nothing')).status, 404);
    assert.equal((await app.ask('GET', '/gw/explain/nothing', { credential: 'wrong' })).status, 403);
  });
});
