import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { openApi, publish } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

describe('Invalid credentials on OAuth routes', () => {
  const lines: string[] = [];
  let app: TestApp;
  let upstream: Upstream;
  let url = '';
  before(async () => {
    const settings = { 'management.max_auth_failures_per_minute': '3' };
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings, onLog: line => void lines.push(line) }),
      startUpstream(),
    ]);
    const oauth_meta = { allowed_access_types: ['client_credentials'], allowed_authorize_types: ['code'] };
    url = await publish(app, openApi(upstream, { use_keyless: false, use_oauth2: true, oauth_meta }));
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });
  const listRejections = (route: string) =>
    lines.filter(line => line.includes('wrong credential') && line.includes(`"route":"${route}"`));

  test('wrong gateway secrets are rate limited and logged, and the right one is still accepted', async () => {
    const agree = (secret: string) =>
      fetch(`${url}/gw/oauth/authorize-client/`, { method: 'POST', headers: { 'x-gw-authorization': secret } });
    const statuses = [];
    for (let n = 0; n < 12; n++) statuses.push((await agree(`guess-${n}`)).status);
    assert.deepEqual(statuses, [403, 403, 403, ...Array(9).fill(429)]);
    assert.ok(Number((await agree('guess')).headers.get('retry-after')) > 0);
    const right = await agree(app.credentials.gateway_secret);
    assert.deepEqual([right.status, ((await right.json()) as { error: string }).error], [403, 'invalid_request']);
    const rejections = listRejections('authorize-client');
    assert.deepEqual(
      rejections.map(line => JSON.parse(line).failures),
      [1, 10],
    );
    assert.match(rejections[0]!, /"address":"127\.0\.0\.1"/);
    assert.ok(!lines.some(line => line.includes('guess-')), 'no credential in the log');
  });

  test('wrong client secrets are logged without their value', async () => {
    const headers = { authorization: `Basic ${btoa('nobody:canary-secret')}` };
    const body = new URLSearchParams({ grant_type: 'client_credentials' });
    assert.equal((await fetch(`${url}/oauth/token`, { method: 'POST', headers, body })).status, 401);
    assert.equal(listRejections('token').length, 1);
    assert.ok(!lines.some(line => line.includes('canary-secret')));
  });
});
