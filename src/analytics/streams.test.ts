import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { reauthenticationIntervalMs } from '#operations/event-streams.ts';
import { onEveryEngine, startApp, type TestApp } from '../../tests/support/app.ts';
import { eventually, openApi, publish } from '../../tests/support/traffic.ts';
import { startUpstream, type Upstream } from '../../tests/support/upstream.ts';

interface ReceivedEvent {
  readonly name: string;
  readonly id: string;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** A client of server-sent events; `next` waits for the first further event that matches. */
async function openStream(app: TestApp, path: string, { credential, lastEventId }: Record<string, string> = {}) {
  const aborted = new AbortController();
  const response = await fetch(app.url.dashboard + path, {
    headers: {
      authorization: credential ?? app.credentials.admin_access_key,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: aborted.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  async function next(matches: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent> {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const event = parseEvent(text.slice(0, end));
        text = text.slice(end + 2);
        if (event && matches(event)) return event;
        continue;
      }
      const { done, value } = await reader.read();
      assert.ok(!done, 'the stream goes on');
      text += value;
    }
  }
  /** Reads until the server ends the stream. */
  async function drain(): Promise<void> {
    for (;;) if ((await reader.read()).done) return;
  }
  return { response, next, drain, close: () => aborted.abort() };
}

function parseEvent(block: string): ReceivedEvent | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
  return field('event') === '' ? undefined : { name: field('event'), id: field('id'), data: JSON.parse(field('data')) };
}

const addUser = async (app: TestApp, user_permissions: object) => {
  const { body, text } = await app.ask('POST', '/admin/users', {
    body: {
      org_id: app.credentials.organisation_id,
      email_address: `${createPublicId()}@example.org`,
      first_name: 'A',
      last_name: 'B',
      active: true,
      user_permissions,
    },
  });
  assert.equal(body.Status, 'OK', text);
  return { id: body.Meta.id as string, credential: body.Message as string };
};

onEveryEngine('Event streams of analytics', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream?.close());

  test('HEAD opens no stream, which would have no client', async () => {
    for (const path of ['/api/live', '/api/logs/stream']) {
      const { status } = await app().ask('HEAD', path);
      assert.ok(status === 404 || status === 405, `${path}: ${status}`);
    }
  });

  test('logged requests arrive as events, filtered, and a client that reconnects continues after its last one', async () => {
    const definition = openApi(upstream, { enable_detailed_recording: true });
    const other = openApi(upstream);
    const [url, otherUrl] = [await publish(app(), definition), await publish(app(), other)];
    const path = `/api/logs/stream?api_id=${definition.api_id}`;
    const stream = await openStream(app(), path);
    assert.equal(stream.response.status, 200);
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
    assert.equal(stream.response.headers.get('cache-control'), 'no-store');
    assert.equal(stream.response.headers.get('x-accel-buffering'), 'no');
    await fetch(`${otherUrl}/hidden`);
    await fetch(`${url}/one`);
    const first = await stream.next(({ name }) => name === 'call');
    assert.deepEqual([first.data.path, first.data.api_id, first.data.response_code], ['/one', definition.api_id, 200]);
    assert.ok(!('raw_request' in first.data) && !('raw_response' in first.data));
    assert.match(first.id, /^\S{30,}$/, 'no row number, which counts the requests of all organisations');
    const whole = await app().ask('GET', `/api/logs/${first.data.id}`);
    assert.deepEqual([whole.body.path, whole.body.raw_request !== ''], ['/one', true]);
    await fetch(`${url}/two`);
    const second = await stream.next(({ name }) => name === 'call');
    assert.equal(second.data.path, '/two');
    stream.close();
    await fetch(`${url}/three`);
    await eventually(async () => {
      const { body } = await app().ask('GET', `/api/logs?start=0&end=9999999999&api_id=${definition.api_id}`);
      assert.equal(body.data.length, 3);
    });
    const again = await openStream(app(), path, { lastEventId: first.id });
    const paths = [];
    for (let n = 0; n < 2; n++) paths.push((await again.next(({ name }) => name === 'call')).data.path);
    again.close();
    assert.deepEqual(paths, ['/two', '/three']);
    const failed = await openStream(app(), `${path}&errors=true`, { lastEventId: first.id });
    upstream.answer = (_request, response) => response.writeHead(500).end();
    await fetch(`${url}/bad`);
    upstream.answer = undefined;
    assert.equal((await failed.next(({ name }) => name === 'call')).data.path, '/bad');
    failed.close();
  });

  test('logs are filtered by the hash of a key or a part of its alias, also live; aliases need keys:read, keys match nothing', async () => {
    const definition = openApi(upstream, { use_keyless: false, use_standard_auth: true });
    const url = await publish(app(), definition);
    const access_rights = { [definition.api_id]: { api_id: definition.api_id, versions: ['Default'] } };
    const addKey = async (alias: string, query = '') => {
      const { status, body, text } = await app().ask('POST', `/api/keys${query}`, { body: { alias, access_rights } });
      assert.equal(status, 200, text);
      return body as { key_id: string; key_hash: string };
    };
    const keys = new Map<string, { key_id: string; key_hash: string }>();
    for (const alias of ['Shop Berlin', 'Shop Rome', 'Bank']) keys.set(alias, await addKey(alias, '?wait=applied'));
    const send = (alias: string, path: string) =>
      fetch(url + path, { headers: { authorization: keys.get(alias)!.key_id } });
    const reader = await addUser(app(), { log: 'read' });
    const pathsOf = async (key: string, credential?: string) => {
      const query = `start=0&end=9999999999&api_id=${definition.api_id}&key=${encodeURIComponent(key)}`;
      const { body, text } = await app().ask('GET', `/api/logs?${query}`, credential ? { credential } : {});
      assert.ok(body.data, text);
      assert.equal(body.keys_cut, undefined);
      return body.data.map((call: { path: string }) => call.path).sort();
    };
    const stream = await openStream(app(), `/api/logs/stream?api_id=${definition.api_id}&key=op%20rome`);
    for (const [alias, path] of [...keys.keys()].map((it, n) => [it, `/${n}`] as const)) await send(alias, path);
    assert.equal((await stream.next(({ name }) => name === 'call')).data.path, '/1');
    stream.close();
    await eventually(async () => assert.deepEqual(await pathsOf('SHOP'), ['/0', '/1']));
    await eventually(async () => assert.deepEqual(await pathsOf('bank'), ['/2']));
    const { key_id, key_hash } = keys.get('Shop Rome')!;
    for (const credential of [undefined, reader.credential])
      for (const [key, paths] of [
        [key_hash, ['/1']],
        [key_hash.toUpperCase(), ['/1']],
        [key_id, []],
      ] as const)
        assert.deepEqual(await pathsOf(key, credential), paths, key);
    assert.deepEqual(await pathsOf('shop', reader.credential), []);
    assert.deepEqual(await pathsOf(''), []);
    await Promise.all(Array.from({ length: 101 }, (_, n) => addKey(`Many ${n}`)));
    const { body } = await app().ask('GET', '/api/logs?start=0&end=9999999999&key=many');
    assert.deepEqual([body.data, body.keys_cut], [[], true]);
    const cut = await openStream(app(), '/api/logs/stream?key=many');
    await cut.next(({ name }) => name === 'keys_cut');
    cut.close();
  });

  test('live usage has counts, errors and a latency histogram of each API since the last event', async () => {
    const definition = openApi(upstream);
    const url = await publish(app(), definition);
    await fetch(url);
    await eventually(async () => {
      const { body } = await app().ask('GET', `/api/usage?start=0&end=3000000000&api_id=${definition.api_id}`);
      assert.equal(body.data[0]?.hits, 1);
    });
    const stream = await openStream(app(), `/api/live?api_id=${definition.api_id}`);
    const idle = await stream.next(({ name }) => name === 'usage');
    assert.deepEqual(idle.data.apis, []);
    assert.ok(idle.data.seconds > 0 && Date.parse(idle.data.at) > 0);
    upstream.answer = (request, response) => response.writeHead(request.url!.endsWith('bad') ? 500 : 200).end();
    for (const path of ['/a', '/b', '/bad']) await fetch(url + path);
    upstream.answer = undefined;
    const sum = { hits: 0, error: 0, latencies: 0 };
    while (sum.hits < 3) {
      const { data } = await stream.next(({ name, data: it }) => name === 'usage' && it.apis.length > 0);
      const [api, ...more] = data.apis;
      assert.deepEqual([api.api_id, api.api_name, more], [definition.api_id, definition.name, []]);
      sum.hits += api.hits;
      sum.error += api.error;
      for (const [bound, count] of api.latencies) {
        assert.ok(bound > 0);
        sum.latencies += count;
      }
    }
    assert.deepEqual(sum, { hits: 3, error: 1, latencies: 3 });
    assert.deepEqual((await stream.next(({ name }) => name === 'usage')).data.apis, []);
    stream.close();
  });

  test('live usage can be restricted to requests with all of some tags, and to one version', async () => {
    const definition = openApi(upstream, { tag_headers: ['x-tier'], tags: ['eu'] });
    const url = await publish(app(), definition);
    const of = `/api/live?api_id=${definition.api_id}`;
    const version = encodeURIComponent('Non Versioned');
    const streams = await Promise.all(
      [`${of}&tags=eu,x-tier-gold`, `${of}&api_version=${version}`, `${of}&api_version=none`].map(it =>
        openStream(app(), it),
      ),
    );
    for (const tier of ['silver', 'gold', 'iron']) await fetch(url, { headers: { 'x-tier': tier } });
    const count = async (stream: (typeof streams)[number], hits: number) => {
      let sum = 0;
      while (sum < hits) {
        const { data } = await stream.next(({ name, data: it }) => name === 'usage' && it.apis.length > 0);
        for (const api of data.apis) sum += api.hits;
      }
      return sum;
    };
    assert.equal(await count(streams[1]!, 3), 3);
    assert.equal(await count(streams[0]!, 1), 1);
    assert.deepEqual((await streams[0]!.next(({ name }) => name === 'usage')).data.apis, []);
    assert.deepEqual((await streams[2]!.next(({ name }) => name === 'usage')).data.apis, []);
    for (const stream of streams) stream.close();
    const many = Array.from({ length: 11 }, (_, n) => `t${n}`).join(',');
    const { status, text } = await app().ask('GET', `/api/live?tags=${many}`);
    assert.equal(status, 400);
    assert.match(text, /tags: must be at most 10 tags/);
  });

  test('streams contain requests of visible APIs of the own organisation only', async () => {
    const owner = await addUser(app(), { analytics: 'read', log: 'read', apis: 'read', owned_analytics: 'read' });
    const other = await addUser(app(), { analytics: 'read', log: 'read' });
    const { accessKey } = await app().stranger();
    const [owned, open] = [openApi(upstream), openApi(upstream)];
    const body = { api_definition: owned, user_owners: [owner.id] };
    assert.equal((await app().ask('POST', '/api/apis', { body })).status, 200);
    const openUrl = await publish(app(), open);
    const ownedUrl = app().url.gateway + owned.proxy.listen_path;
    const listen = async (path: string, credential: string) => openStream(app(), path, { credential });
    const [ofOwner, ofOther, ofStranger] = await Promise.all([
      listen('/api/live', owner.credential),
      listen('/api/logs/stream', other.credential),
      listen('/api/live', accessKey),
    ]);
    await fetch(openUrl);
    await fetch(ownedUrl);
    await fetch(openUrl);
    const { data } = await ofOwner.next(({ data: it }) => it.apis.length > 0);
    assert.deepEqual(
      data.apis.map(({ api_id }: { api_id: string }) => api_id),
      [owned.api_id],
    );
    for (let n = 0; n < 2; n++)
      assert.equal((await ofOther.next(({ name }) => name === 'call')).data.api_id, open.api_id);
    for (let n = 0; n < 2; n++) assert.deepEqual((await ofStranger.next(() => true)).data.apis, []);
    for (const stream of [ofOwner, ofOther, ofStranger]) stream.close();
    const ask = (path: string, credential: string) => app().ask('GET', path, { credential });
    assert.equal((await ask(`/api/live?api_id=${open.api_id}`, owner.credential)).status, 403);
    assert.equal((await ask(`/api/logs/stream?api_id=${owned.api_id}`, other.credential)).status, 403);
    assert.equal((await ask('/api/logs/stream', (await addUser(app(), { analytics: 'read' })).credential)).status, 403);
    assert.equal((await ask('/api/live', (await addUser(app(), { log: 'read' })).credential)).status, 403);
  });

  test('a stream ends after the requested seconds, which are bounded', async () => {
    const stream = await openStream(app(), '/api/live?seconds=1');
    await stream.drain();
    for (const seconds of ['0', '301', 'x'])
      assert.equal((await app().ask('GET', `/api/live?seconds=${seconds}`)).status, 400);
  });
});

test('open streams are bounded by setting, a closed one makes room, and the process closes with streams open', async () => {
  const app = await startApp('sqlite', { settings: { 'management.max_event_streams': '2' } });
  try {
    const streams = [await openStream(app, '/api/live'), await openStream(app, '/api/logs/stream')];
    const { status, body } = await app.ask('GET', '/api/live');
    assert.deepEqual(
      [status, body.Message],
      [429, 'The process has 2 open event streams, the maximum: close one, or try again later'],
    );
    streams[0]!.close();
    await eventually(async () => {
      const third = await openStream(app, '/api/live');
      assert.equal(third.response.status, 200);
    });
  } finally {
    await app.close();
  }
});

test('a stream ends when its user loses the permission', async () => {
  const ahead = { ms: 0 };
  const app = await startApp('sqlite', { clock: { now: () => Date.now() + ahead.ms } });
  try {
    const user = await addUser(app, { analytics: 'read' });
    const stream = await openStream(app, '/api/live', { credential: user.credential });
    await stream.next(({ name }) => name === 'usage');
    const body = { user_permissions: { portal: 'read' } };
    const changed = await app.ask('PUT', `/admin/users/${user.id}`, { body });
    assert.equal(changed.status, 200, changed.text);
    ahead.ms += reauthenticationIntervalMs;
    const { data } = await stream.next(({ name }) => name === 'error');
    assert.match(data.message, /access denied: you need analytics:read/);
    await stream.drain();
  } finally {
    await app.close();
  }
});
