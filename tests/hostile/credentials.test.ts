import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually, openApi, publish } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';

/** Sends one request from this local address on a connection of its own. */
async function send(url: string, headers: Record<string, string>, localAddress = '127.0.0.1', signal?: AbortSignal) {
  const sent = request(url, { headers, localAddress, agent: false, ...(signal && { signal }) });
  sent.end();
  const [response] = await once(sent, 'response');
  response.resume();
  return { status: response.statusCode as number, headers: response.headers as Record<string, string> };
}

describe('Management authentication failures', () => {
  let app: TestApp;
  const logged: string[] = [];
  const maxFailures = 3;
  const floods = 25;
  before(async () => {
    const settings = { 'management.max_auth_failures_per_minute': String(maxFailures) };
    app = await startApp('sqlite', { settings, onLog: line => logged.push(line) });
  });
  after(() => app?.close());

  const surfaces = () => {
    const { url, credentials } = app;
    return [
      ['gateway', `${url.dashboard}/gw/apis`, 'x-gw-authorization', credentials.gateway_secret],
      ['dashboard', `${url.dashboard}/api/apis`, 'authorization', credentials.admin_access_key],
      ['admin', `${url.dashboard}/admin/organisations`, 'admin-auth', credentials.admin_secret],
      ['portal', `${url.portal}/portal-api/apps`, 'authorization', credentials.portal_token],
    ] as const;
  };

  test('repeated wrong credentials get 429 on every surface, and valid ones are still accepted', async () => {
    for (const [surface, url, header] of surfaces()) {
      const statuses: number[] = [];
      for (let n = 0; n < floods; n++)
        statuses.push((await send(url, { [header]: `guess-${n}-of-${surface}` })).status);
      const refused = statuses.slice(0, maxFailures);
      assert.ok(
        refused.every(status => status === 401 || status === 403),
        `${surface}: ${refused}`,
      );
      assert.deepEqual([...new Set(statuses.slice(maxFailures))], [429], surface);
    }
    for (const [surface, url, header, credential] of surfaces())
      assert.equal((await send(url, { [header]: credential })).status, 200, surface);
  });

  test('they are logged and audited with address and count, a bounded number of times, without their value', async () => {
    const lines = logged.filter(line => line.includes('credential rejected'));
    for (const [surface] of surfaces()) {
      const counts = lines.map(line => JSON.parse(line)).filter(line => line.surface === surface);
      assert.deepEqual(
        counts.map(({ address, failures }) => [address, failures]),
        [
          ['127.0.0.1', 1],
          ['127.0.0.1', 10],
        ],
      );
    }
    assert.equal(
      logged.some(line => line.includes('guess-')),
      false,
    );
    await eventually(async () => {
      const { body } = await app.ask('GET', '/admin/audit-logs?action=authenticate&p=-1');
      assert.equal(body.audit_logs.length, surfaces().length * 2);
      assert.equal(JSON.stringify(body).includes('guess-'), false);
    });
  });
});

describe('Basic authentication failures', () => {
  let app: TestApp;
  let upstream: Upstream;
  let url: string;
  const maxWrong = 5;
  before(async () => {
    upstream = await startUpstream();
    app = await startApp('sqlite', { settings: { 'gateway.max_wrong_passwords_per_minute': String(maxWrong) } });
    const definition = openApi(upstream, { use_keyless: false, use_basic_auth: true });
    url = await publish(app, definition);
    const body = {
      basic_auth_data: { password: 'right' },
      access_rights: { [definition.api_id]: { api_id: definition.api_id, versions: ['Default'] } },
    };
    for (const name of ['ann', 'bob'])
      assert.equal((await app.ask('POST', `/api/apis/keys/basic/${name}`, { body })).status, 200);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });
  const basic = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  });

  test('a valid password is checked ahead of a flood of wrong ones from another address', async () => {
    let answered = 0;
    const flood = Array.from({ length: 30 }, (_, n) =>
      send(url, basic(`stranger ${n}`, 'wrong'), '127.0.0.2').then(({ status }) => {
        answered++;
        return status;
      }),
    );
    await eventually(() => assert.ok(answered > 0));
    const before = answered;
    assert.equal((await send(url, basic('ann', 'right'))).status, 200);
    assert.ok(answered - before < 8, `${answered - before} wrong ones were checked first`);
    assert.deepEqual([...new Set(await Promise.all(flood))], [401]);
  });

  test('wrong passwords of one user from one address get 429 beyond the limit; other users and addresses do not', async () => {
    for (let n = 0; n < maxWrong; n++)
      assert.equal((await send(url, basic('bob', `wrong ${n}`), '127.0.0.3')).status, 401);
    const { status, headers } = await send(url, basic('bob', 'right'), '127.0.0.3');
    assert.equal(status, 429);
    assert.ok(Number(headers['retry-after']) > 0);
    assert.equal((await send(url, basic('bob', 'right'), '127.0.0.4')).status, 200);
    assert.equal(
      (await send(url, basic('ann', 'right'), '127.0.0.3')).status,
      200,
      'other users at that address are accepted',
    );
  });
});
