import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import type { SettingName } from '#base/settings.ts';
import { startApp, type TestApp } from './support/app.ts';
import { publishBoth } from './support/both-formats.ts';
import { type Definition, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';
import { handling, type Receiver, startReceiver, webhook } from './support/webhooks.ts';

/** Every kind of limit, through real sockets: allowed requests, exact refusals, headers and events. */

let upstream: Upstream;
let receiver: Receiver;
before(async () => {
  [upstream, receiver] = await Promise.all([startUpstream(), startReceiver()]);
});
after(async () => {
  await receiver.close();
  await upstream.close();
});

/** An installation with these settings, for the tests declared inside. */
function limiting(
  title: string,
  settings: Partial<Record<SettingName, string>>,
  declare: (app: () => TestApp) => void,
) {
  describe(title, () => {
    let app: TestApp;
    before(async () => {
      app = await startApp('sqlite', { settings });
    });
    after(() => app?.close());
    declare(() => app);
  });
}

const forAnHour = { per: 3600 };
const refusal = (message: string) => `{\n    "error": "${message}"\n}`;
const tooMany = { status: 429, text: refusal('Rate Limit Exceeded') };
const tooManyOfApi = { status: 429, text: refusal('API Rate Limit Exceeded') };
const usedUp = { status: 403, text: refusal('Quota exceeded') };

async function callApi(url: string, headers: Record<string, string> = {}) {
  const reply = await fetch(url, { headers });
  const limitHeaders = ['limit', 'remaining', 'reset'].map(name => reply.headers.get(`x-ratelimit-${name}`));
  return { status: reply.status, text: await reply.text(), limitHeaders, retryAfter: reply.headers.get('retry-after') };
}

async function passes(url: string, times: number, headers: Record<string, string> = {}) {
  for (let n = 0; n < times; n++) assert.equal((await callApi(url, headers)).status, 200, `call ${n + 1} of ${times}`);
}

/** Asserts exactly this refusal; a 429 carries Retry-After. */
async function isRefused(url: string, { status, text }: typeof tooMany, headers: Record<string, string> = {}) {
  const found = await callApi(url, headers);
  assert.deepEqual({ status: found.status, text: found.text }, { status, text });
  assert.equal(found.retryAfter !== null, status === 429);
  return found;
}

const createKeyApi = (more: Record<string, unknown> = {}): Definition =>
  openApi(upstream, { use_keyless: false, ...more });

/** Creates a key to these APIs; `change` updates it without resetting its counters. */
async function keyTo(app: TestApp, apis: readonly Definition[], key: object, right: object = {}) {
  const access_rights = Object.fromEntries(apis.map(({ api_id }) => [api_id, right]));
  const id = createPublicId();
  const put = async (method: string, path: string, more: object) => {
    const made = await app.ask(method, path, { body: { access_rights, ...key, ...more } });
    assert.equal(made.status, 200, made.text);
    await waitUntilApplied(app);
    return made.body.key_id as string;
  };
  const keyId = await put('POST', `/api/keys/${id}`, {});
  return {
    headers: { authorization: keyId },
    change: (more: object) => put('PUT', `/api/keys/${encodeURIComponent(keyId)}?suppress_reset=1`, more),
  };
}

limiting('Rate limits and quotas', { 'limits.organisations': 'true' }, app => {
  test('rate limit: refused requests do not consume it', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const { headers, change } = await keyTo(app(), [api], { rate: 2, ...forAnHour });
    await passes(url, 2, headers);
    const { limitHeaders } = await isRefused(url, tooMany, headers);
    assert.deepEqual(limitHeaders.slice(0, 2), ['2', '0']);
    assert.match(limitHeaders[2]!, /^\d{10}$/);
    await change({ rate: 4 });
    await passes(url, 2, headers);
    await isRefused(url, tooMany, headers);
  });

  test('smoothing: the rate starts at the threshold and rises by one step per delay up to the full rate', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const smoothing = { enabled: true, threshold: 2, step: 2, trigger: 0.5 };
    const createSmoothedKey = (delay: number) =>
      keyTo(app(), [api], { rate: 5, ...forAnHour, smoothing: { ...smoothing, delay } });
    const slow = await createSmoothedKey(3600);
    await passes(url, 2, slow.headers);
    for (let n = 0; n < 3; n++) await isRefused(url, tooMany, slow.headers);
    const quick = await createSmoothedKey(1);
    let passed = 0;
    await eventually(async () => {
      if ((await callApi(url, quick.headers)).status === 200) passed++;
      assert.equal(passed, 5);
    });
    for (let n = 0; n < 3; n++) await isRefused(url, tooMany, quick.headers);
  });

  test('throttling: a request beyond the rate is queued, passes once there is capacity, and counts once', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const held = { throttle_interval: 0.1, throttle_retry_limit: 3000 };
    const quota = { quota_max: 10, quota_renewal_rate: 3600 };
    const { headers } = await keyTo(app(), [api], { rate: 1, per: 1, ...held, ...quota });
    await passes(url, 1, headers);
    const { status, limitHeaders } = await callApi(url, headers);
    assert.deepEqual([status, limitHeaders[1]], [200, '8']);
    const given = { throttle_interval: 0.01, throttle_retry_limit: 3 };
    const impatient = await keyTo(app(), [api], { rate: 1, ...forAnHour, ...given });
    await passes(url, 1, impatient.headers);
    await isRefused(url, tooMany, impatient.headers);
  });

  test('quota: headers are on responses, not on refusals; quota refusals count, rate-limited requests do not', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const quota = { quota_max: 2, quota_renewal_rate: 3600 };
    const { headers, change } = await keyTo(app(), [api], quota);
    const first = await callApi(url, headers);
    assert.deepEqual([first.status, ...first.limitHeaders.slice(0, 2)], [200, '2', '1']);
    const { limitHeaders } = await callApi(url, headers);
    assert.deepEqual(limitHeaders, ['2', '0', first.limitHeaders[2]], 'the period began with the first call');
    assert.deepEqual((await isRefused(url, usedUp, headers)).limitHeaders, [null, null, null]);
    await change({ quota_max: 4 });
    await passes(url, 1, headers);
    await isRefused(url, usedUp, headers);
    const both = await keyTo(app(), [api], { rate: 1, ...forAnHour, ...quota });
    await passes(url, 1, both.headers);
    for (let n = 0; n < 3; n++) await isRefused(url, tooMany, both.headers);
    await both.change({ rate: 5 });
    await passes(url, 1, both.headers);
    await isRefused(url, usedUp, both.headers);
  });

  test('limits of a key are shared by its APIs, limits of an access right are per API', async () => {
    const apis = [createKeyApi(), createKeyApi()];
    const [one, two] = [await publish(app(), apis[0]!), await publish(app(), apis[1]!)];
    const limit = { quota_max: 2, quota_renewal_rate: 3600 };
    const shared = await keyTo(app(), apis, limit);
    await passes(one, 1, shared.headers);
    await passes(two, 1, shared.headers);
    await isRefused(one, usedUp, shared.headers);
    const apart = await keyTo(app(), apis, { quota_max: 1, quota_renewal_rate: 3600 }, { limit });
    for (const url of [one, two]) {
      await passes(url, 2, apart.headers);
      await isRefused(url, usedUp, apart.headers);
    }
  });

  test('a key’s rate for an endpoint replaces the rate of the access right and of the key', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const endpoints = [{ path: '/dear', methods: [{ name: 'GET', limit: { rate: 1, ...forAnHour } }] }];
    const right = { endpoints, limit: { rate: 2, ...forAnHour } };
    const { headers } = await keyTo(app(), [api], { rate: 100, ...forAnHour }, right);
    await passes(`${url}/dear`, 1, headers);
    await isRefused(`${url}/dear`, tooMany, headers);
    await passes(`${url}/cheap`, 2, headers);
    await isRefused(`${url}/cheap`, tooMany, headers);
  });

  test('keys whose rate limit pattern yields the same text share their counters', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const team = (name: string) => ({ meta_data: { rate_limit_pattern: '$gw_meta.team', team: name } });
    const of = async (name: string) => (await keyTo(app(), [api], { rate: 2, ...forAnHour, ...team(name) })).headers;
    const [one, two, other] = [await of('blue'), await of('blue'), await of('red')];
    await passes(url, 1, one);
    await passes(url, 1, two);
    await isRefused(url, tooMany, one);
    await passes(url, 2, other);
  });

  test('an API rate limit, and an endpoint rate limit in its place, apply to all clients together, in both formats', async () => {
    const rate_limit = [{ path: '/dear', method: 'GET', rate: 1, ...forAnHour }];
    const Default = { name: 'Default', use_extended_paths: true, extended_paths: { rate_limit } };
    const responses = { 200: { description: 'One' } };
    const operations = { dear: { rateLimit: { enabled: true, rate: 1, per: '1h' } } };
    const both = await publishBoth(app(), upstream, {
      classic: {
        global_rate_limit: { rate: 2, ...forAnHour },
        version_data: { not_versioned: true, versions: { Default } },
      },
      oas: {
        upstream: { url: upstream.url, rateLimit: { enabled: true, rate: 2, per: 'PT1H' } },
        middleware: { operations },
      },
      document: { paths: { '/dear': { get: { operationId: 'dear', responses } } } },
    });
    for (const { url } of both) {
      await passes(`${url}/dear`, 1);
      await isRefused(`${url}/dear`, tooManyOfApi);
      await passes(`${url}/cheap`, 2);
      const { limitHeaders } = await isRefused(`${url}/cheap`, tooManyOfApi);
      assert.deepEqual(limitHeaders.slice(0, 2), ['2', '0']);
    }
  });

  test('the RatelimitExceeded event of an API rate limit carries the API’s own limiter key', async () => {
    const path = `/${createPublicId()}`;
    const hooks = handling('RatelimitExceeded', webhook(receiver.url + path));
    const api = openApi(upstream, { ...hooks, global_rate_limit: { rate: 1, ...forAnHour } });
    const url = await publish(app(), api);
    await passes(`${url}/x`, 1);
    await isRefused(`${url}/x`, tooManyOfApi);
    const [limitHeaders] = await eventually(() => {
      assert.ok(receiver.at(path).length > 0);
      return receiver.at(path);
    });
    assert.deepEqual(JSON.parse(limitHeaders!.body), {
      event: 'RatelimitExceeded',
      message: 'API Rate Limit Exceeded',
      path: `${api.proxy.listen_path}/x`,
      origin: '127.0.0.1',
      key: `apilimiter-${app().credentials.organisation_id}${api.api_id}`,
    });
  });

  test('a cached response counts against the quota and carries the quota headers', async () => {
    const api = createKeyApi({
      cache_options: { enable_cache: true, cache_all_safe_requests: true, cache_timeout: 3600 },
    });
    const url = await publish(app(), api);
    const { headers } = await keyTo(app(), [api], { quota_max: 3, quota_renewal_rate: 3600 });
    const before = upstream.requests.length;
    const limitHeaders = [await callApi(url, headers), await callApi(url, headers), await callApi(url, headers)].map(
      it => it.limitHeaders,
    );
    assert.equal(upstream.requests.length, before + 1);
    const reset = limitHeaders[0]![2];
    assert.deepEqual(limitHeaders, [
      ['3', '2', reset],
      ['3', '1', reset],
      ['3', '0', reset],
    ]);
    await isRefused(url, usedUp, headers);
  });

  test('a keyless API sends no rate limit headers', async () => {
    assert.deepEqual((await callApi(await publish(app(), openApi(upstream)))).limitHeaders, [null, null, null]);
  });

  test('an organisation has a rate limit and a quota, and can be disabled', async () => {
    const org_id = app().credentials.organisation_id;
    const path = `/admin/org/keys/${org_id}`;
    const advice = 'please contact your API administrator';
    const url = await publish(app(), openApi(upstream));
    const limited: [key: object, passed: number, message: string][] = [
      [{ rate: 1, ...forAnHour }, 1, `This organisation rate limit has been exceeded, ${advice}`],
      [{ quota_max: 2, quota_renewal_rate: 3600 }, 2, `This organisation quota has been exceeded, ${advice}`],
      [{ is_inactive: true }, 0, `this organisation access has been disabled, ${advice}`],
    ];
    for (const [key, passed, message] of limited) {
      const made = await app().ask('POST', '/admin/org/keys', { body: { org_id, ...key } });
      assert.equal(made.status, 200, made.text);
      await waitUntilApplied(app());
      await passes(url, passed);
      await isRefused(url, { status: 403, text: refusal(message) });
      assert.equal((await app().ask('DELETE', path)).status, 200);
      await waitUntilApplied(app());
    }
    await passes(url, 3);
  });
});

limiting('Rate limiting: sliding window', { 'limits.rate_algorithm': 'sliding' }, app => {
  test('refused requests are counted too', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const { headers, change } = await keyTo(app(), [api], { rate: 2, ...forAnHour });
    await passes(url, 2, headers);
    await isRefused(url, tooMany, headers);
    await change({ rate: 4 });
    await passes(url, 1, headers);
    await isRefused(url, tooMany, headers);
  });
});

const byTheClock = { 'limits.rate_algorithm': 'fixed', 'limits.response_headers': 'rate' } as const;

limiting('Rate limiting: fixed window with rate headers', byTheClock, app => {
  /** About thirty years: the current window ends at 2,000,000,000 s. */
  const period = { per: 1_000_000_000 };
  const ends = '2000000000';

  test('a window ends at a multiple of its period, and responses and refusals carry the rate headers', async () => {
    const api = createKeyApi();
    const url = await publish(app(), api);
    const { headers } = await keyTo(app(), [api], { rate: 2, ...period });
    assert.deepEqual((await callApi(url, headers)).limitHeaders, ['2', '1', ends]);
    assert.deepEqual((await callApi(url, headers)).limitHeaders, ['2', '0', ends]);
    assert.deepEqual((await isRefused(url, tooMany, headers)).limitHeaders, ['2', '0', ends]);
  });

  test('a keyless API sends the headers of its own rate limit', async () => {
    const url = await publish(app(), openApi(upstream, { global_rate_limit: { rate: 1, ...period } }));
    assert.deepEqual((await callApi(url)).limitHeaders, ['1', '0', ends]);
    assert.deepEqual((await isRefused(url, tooManyOfApi)).limitHeaders, ['1', '0', ends]);
  });
});
