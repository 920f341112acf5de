import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { onEveryEngine } from './support/app.ts';
import { publishTokens, tokenOf } from './support/oauth2.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Accepts `X-Pass: ann`, changes every request that it sees, and fails for `X-Pass: broken`. */
const code = Buffer.from(`const auth = new GwJS.GwMiddleware.NewMiddleware({});
auth.NewProcessRequest(function (request, session, config) {
  request.SetHeaders['X-Plugin'] = session.alias || 'seen'; request.DeleteHeaders.push('X-Kept');
  request.Body = 'changed'; request.AddParams.added = '1';
  const pass = (request.Headers['X-Pass'] || [''])[0];
  if (pass === 'broken') throw new Error('broken');
  if (pass !== 'ann') return auth.ReturnData(request, {});
  const access_rights = {}; access_rights[config.APIID] = { api_id: config.APIID, versions: ['Default'] };
  return auth.ReturnAuthData(request, { alias: 'ann', access_rights: access_rights, meta_data: { level: 'gold' } }, 'ann');
});`).toString('base64');

onEveryEngine('Authentication by plugin among alternatives', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const custom = { enabled: true, config: { enabled: true, functionName: 'auth', code, requireSession: true } };
  const post = (headers: Record<string, string>) => ({ method: 'POST', body: 'text', headers });
  const jwt = { authorization: `Bearer ${tokenOf()}` };
  const last = () => upstream.requests.at(-1)!;

  test('the plugin or another method admits a request, and what a plugin that refused it changed is undone', async () => {
    const { id, call } = await publishTokens(app(), upstream, {
      document: { security: [] },
      authentication: { securityProcessingMode: 'compliant', custom, security: [['custom'], ['jwt'], ['key']] },
      schemes: { key: { enabled: true } },
      global: { pluginConfig: { driver: 'javascript' } },
    });
    assert.equal((await call('/x', {}, post({ 'x-pass': 'ann', 'x-kept': '1' }))).status, 200);
    assert.deepEqual(
      [last().headers['x-plugin'], last().headers['x-kept'], last().body],
      ['seen', undefined, 'changed'],
    );
    assert.match(last().url, /added=1/);
    for (const pass of ['other', 'broken']) {
      assert.equal((await call('/x', {}, post({ ...jwt, 'x-pass': pass, 'x-kept': '1' }))).status, 200);
      assert.deepEqual([last().headers['x-plugin'], last().headers['x-kept'], last().body], [undefined, '1', 'text']);
      assert.doesNotMatch(last().url, /added=1/);
    }
    assert.equal((await call('/x', {}, post({ 'x-pass': 'other' }))).status, 401);
    assert.equal((await call('/x', {}, post({ 'x-pass': 'broken' }))).status, 401);
    const body = { access_rights: { [id]: { api_id: id, versions: [''] } } };
    const { key } = (await app().ask('POST', '/gw/keys', { body })).body;
    await waitUntilApplied(app());
    assert.equal((await call('/x', {}, post({ 'x-key': key }))).status, 200);
  });

  test('a plugin beside another method in one requirement gets its session, and is the base identity where named', async () => {
    for (const [baseIdentityProvider, level] of [
      ['custom_auth', 'gold'],
      ['jwt_claim', ''],
    ] as const) {
      const { call } = await publishTokens(app(), upstream, {
        document: { security: [] },
        authentication: {
          securityProcessingMode: 'compliant',
          baseIdentityProvider,
          custom,
          security: [['jwt', 'custom'], ['key']],
        },
        schemes: { key: { enabled: true } },
        global: {
          pluginConfig: { driver: 'javascript' },
          transformRequestHeaders: { enabled: true, add: [{ name: 'X-Level', value: '$gw_meta.level' }] },
        },
      });
      const both = post({ ...jwt, 'x-pass': 'ann' });
      assert.equal((await call('/x', {}, both)).status, 200, baseIdentityProvider);
      assert.equal(last().headers['x-level'] ?? '', level);
      // Only the base identity sets a session.
      assert.equal(last().headers['x-plugin'] === 'seen', baseIdentityProvider === 'custom_auth');
      assert.equal((await call('/x', {}, post({ 'x-pass': 'ann' }))).status, 401);
      assert.equal((await call('/x', {}, post(jwt))).status, 401);
    }
  });
});
