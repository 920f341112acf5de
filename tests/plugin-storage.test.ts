import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { openApi, waitUntilApplied } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

/** Functions of plugins that read and write keys and the storage of the organisation. */

const encode = (code: string) => Buffer.from(code).toString('base64');

/** Hook that evaluates the body of the request; its result is the response. */
const evaluating = `const mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request, session, config) {
  let result;
  try { result = new Function('session', 'config', request.Body)(session, config); } catch (error) { result = { error: error.message }; }
  request.ReturnOverrides.ResponseCode = 200;
  request.ReturnOverrides.ResponseBody = JSON.stringify(result === undefined ? 'nothing' : result);
  return mw.ReturnData(request, {});
});`;
const evaluator: BothFormats = {
  classic: {
    custom_middleware: { driver: 'javascript', post: [{ name: 'mw', path: '', code: encode(evaluating) }] },
  },
  oas: {
    middleware: {
      global: {
        pluginConfig: { driver: 'javascript' },
        postPlugins: [{ enabled: true, functionName: 'mw', code: encode(evaluating) }],
      },
    },
  },
};

type Run = (code: string) => Promise<ReturnType<typeof JSON.parse>>;

const createRun =
  (url: string): Run =>
  async code => {
    const reply = await fetch(`${url}/x`, { method: 'POST', body: code });
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    return JSON.parse(text);
  };

describe('Functions of plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  let run: Run;
  let apiId: string;
  /** A plugin of another organisation. */
  let runElsewhere: Run;
  let otherOrgId: string;

  before(async () => {
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { threads: '2', 'plugins.max_calls': '20' } }),
      startUpstream(),
    ]);
    const [own] = await publishBoth(app, upstream, evaluator);
    apiId = own!.apiId;
    run = createRun(own!.url);
    const { accessKey, orgId } = await app.stranger();
    otherOrgId = orgId;
    const foreign = openApi(upstream, evaluator.classic);
    const body = { api_definition: foreign };
    assert.equal((await app.ask('POST', '/api/apis', { body, credential: accessKey })).status, 200);
    await waitUntilApplied(app);
    runElsewhere = createRun(app.url.gateway + foreign.proxy.listen_path);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const createKey = async (more: object = {}) => {
    const body = { access_rights: { [apiId]: { api_id: apiId, api_name: 'x', versions: ['Default'] } }, ...more };
    const reply = await app.ask('POST', '/api/keys', { body });
    assert.equal(reply.status, 200, reply.text);
    return reply.body as { key_id: string; key_hash: string };
  };
  const absent = { status: 'error', message: 'Key not found' };
  const read = (key: string, api = '') => `return JSON.parse(GwGetKeyData(${JSON.stringify(key)}, '${api}'));`;

  test('a script reads a key of its organisation by id or hash, without its secrets', async () => {
    const secrets = { hmac_enabled: true, hmac_string: 'hmac-planted', jwt_data: { secret: 'jwt-planted' } };
    const { key_id, key_hash } = await createKey({ rate: 7, per: 60, alias: 'Ann', meta_data: { a: '1' }, ...secrets });
    const found = await run(read(key_id, apiId));
    assert.deepEqual(
      [found.rate, found.per, found.alias, found.meta_data, Object.keys(found.access_rights)],
      [7, 60, 'Ann', { a: '1' }, [apiId]],
    );
    assert.doesNotMatch(JSON.stringify(found), /planted/);
    const byHash = await run(read(key_hash));
    assert.equal(byHash.alias, 'Ann');
    // The hash does not open the key.
    assert.doesNotMatch(JSON.stringify(byHash), new RegExp(key_id));
  });

  test('a key of another organisation, and limits of the own one, read as absent', async () => {
    const { key_id, key_hash } = await createKey({ alias: 'foreign' });
    for (const key of [key_id, key_hash, 'unknown', '', otherOrgId])
      assert.deepEqual(await runElsewhere(read(key)), absent, key);
    const own = app.credentials.organisation_id;
    for (const text of [own, 'none']) assert.deepEqual(await run(read(text)), absent);
    // An API of another organisation is none either.
    const mine = await createKey();
    assert.deepEqual(await run(read(mine.key_id, 'no-such-api')), absent);
  });

  test('a script writes a key: other threads follow, secrets it did not read stay, and the audit log has it', async () => {
    const { key_id, key_hash } = await createKey({ rate: 5, per: 60, hmac_enabled: true, hmac_string: 'kept-secret' });
    const code = `const key = JSON.parse(GwGetKeyData('${key_id}', ''));
      key.alias = 'by plugin'; key.meta_data = { plan: 'gold' };
      return GwSetKeyData('${key_id}', JSON.stringify(key), '1');`;
    assert.equal(await run(code), 'nothing');
    const { body } = await app.ask('GET', `/gw/keys/${key_id}`);
    assert.deepEqual(
      [body.alias, body.meta_data, body.rate, body.hmac_string, body.key_id],
      ['by plugin', { plan: 'gold' }, 5, 'kept-secret', key_id],
    );
    const { body: audit } = await app.ask('GET', '/api/audit-logs?action=GwSetKeyData');
    assert.match(JSON.stringify(audit), new RegExp(key_hash));
    assert.match(JSON.stringify(audit), /plugin of/);
  });

  test('a script creates a key, which clients can use, and never in another organisation', async () => {
    const rights = `{ '${apiId}': { api_id: '${apiId}', api_name: 'x', versions: ['Default'] } }`;
    const write = (org: string) =>
      `return GwSetKeyData('made-by-plugin', JSON.stringify({ org_id: '${org}', rate: 3, per: 60, access_rights: ${rights} }), '');`;
    assert.equal(await run(write(otherOrgId)), 'nothing');
    const own = await run(read('made-by-plugin'));
    assert.deepEqual([own.rate, own.org_id], [3, app.credentials.organisation_id]);
    assert.deepEqual(await runElsewhere(read('made-by-plugin')), absent);
    assert.equal((await app.ask('GET', '/gw/keys/made-by-plugin')).body.rate, 3);
  });

  test('a session that is none is an exception, and changes nothing', async () => {
    const { key_id } = await createKey({ rate: 5, per: 60 });
    const write = (text: string) => run(`return GwSetKeyData('${key_id}', ${text}, '');`);
    for (const text of [
      `'{'`,
      `'[]'`,
      `JSON.stringify({ rate: 'many' })`,
      `JSON.stringify({ apply_policies: ['none'] })`,
      `undefined`,
    ])
      assert.ok((await write(text)).error, text);
    assert.equal((await app.ask('GET', `/gw/keys/${key_id}`)).body.rate, 5);
    assert.ok((await run(`return GwSetKeyData('x', '{}', '');`)).error);
  });

  test('storage holds texts with an expiry, shared by all threads and APIs of the organisation', async () => {
    const code = `const first = GwStorageGet('n');
      GwStorageSet('n', 'one', 0); GwStorageSet('t', 'x', 1000);
      return [first, GwStorageGet('n'), GwStorageSetNX('n', 'two', 0), GwStorageSetNX('m', 'new', 5), GwStorageTTL('n'),
        GwStorageTTL('t') > 900, GwStorageTTL('none'), GwStorageDel('m'), GwStorageGet('m'), GwStorageIncr('c'), GwStorageIncr('c')];`;
    assert.deepEqual(await run(code), [null, 'one', false, true, -1, true, -2, true, null, '1', '2']);
    // New connections go to either thread.
    for (const _ of Array.from({ length: 6 })) assert.equal(await run(`return GwStorageGet('n');`), 'one');
    const counts = await Promise.all(Array.from({ length: 12 }, () => run(`return GwStorageIncr('all');`)));
    assert.deepEqual(
      counts.map(Number).sort((a, b) => a - b),
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
  });

  test('storage of another organisation has none of it', async () => {
    await run(`GwStorageSet('secret', 'mine', 0);`);
    for (const key of ['secret', `../secret`, `${app.credentials.organisation_id}:secret`])
      assert.equal(await runElsewhere(`return GwStorageGet(${JSON.stringify(key)});`), null);
    await runElsewhere(`GwStorageSet('secret', 'theirs', 0);`);
    assert.equal(await run(`return GwStorageGet('secret');`), 'mine');
  });

  test('a key or value beyond its limits is an exception', async () => {
    const cases = [
      `GwStorageGet('')`,
      `GwStorageGet('k'.repeat(257))`,
      `GwStorageGet(7)`,
      `GwStorageSet('k', 'v'.repeat(65537), 0)`,
      `GwStorageSet('k', {}, 0)`,
      `GwStorageSet('k', 'v', -1)`,
      `GwStorageSet('k', 'v', 1e12)`,
      `(GwStorageSet('w', 'word', 0), GwStorageIncr('w'))`,
    ];
    for (const code of cases) assert.ok((await run(`return ${code};`)).error, code);
    assert.equal(await run(`return GwStorageGet('w');`), 'word');
    assert.equal(await run(`GwStorageSet('k', 'v'.repeat(65536), 0); return GwStorageGet('k').length;`), 65_536);
  });

  /** A protected API whose post hook returns this metadata. */
  const publishKeyed = async (meta: string, more: { session?: boolean } = {}) => {
    const { session = true } = more;
    const code = encode(`const mw = new GwJS.GwMiddleware.NewMiddleware({});
      mw.NewProcessRequest(function (request, session, config) {
        request.SetHeaders['X-Session'] = JSON.stringify(session);
        return mw.ReturnData(request, ${meta});
      });`);
    const definitions: BothFormats = {
      classic: {
        use_keyless: false,
        auth: { auth_header_name: 'Authorization' },
        custom_middleware: {
          driver: 'javascript',
          post: [{ name: 'mw', path: '', code, require_session: session }],
        },
      },
      oas: {
        server: {
          authentication: {
            enabled: true,
            securitySchemes: { key: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
          },
        },
        middleware: {
          global: {
            pluginConfig: { driver: 'javascript' },
            postPlugins: [{ enabled: true, functionName: 'mw', code, requireSession: session }],
          },
        },
      },
      document: {
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Authorization' } } },
        security: [{ key: [] }],
      },
    };
    const published = await publishBoth(app, upstream, definitions);
    return Promise.all(
      published.map(async ({ url, apiId: id, format }) => {
        const rights = { [id]: { api_id: id, api_name: 'x', versions: ['Default'] } };
        const limits = { rate: 50, per: 60, quota_max: 9, quota_renewal_rate: 3600 };
        const secrets = { hmac_enabled: true, hmac_string: 'hmac-planted' };
        const body = { access_rights: rights, ...limits, ...secrets, meta_data: { seen: 'no' }, tags: ['t'] };
        const made = await app.ask('POST', '/api/keys', { body });
        assert.equal(made.status, 200, made.text);
        await waitUntilApplied(app);
        const keyId = made.body.key_id as string;
        const request = () => fetch(`${url}/x`, { headers: { authorization: keyId } });
        const readMeta = async () => (await app.ask('GET', `/gw/keys/${keyId}`)).body.meta_data;
        return { request, readMeta, keyId, format, id };
      }),
    );
  };

  test('a hook that requires the session gets limits, quota and rights of the key, without secrets', async () => {
    for (const { request, id, keyId, format } of await publishKeyed(`session.meta_data`)) {
      assert.equal((await request()).status, 200, format);
      const text = String(upstream.requests.at(-1)!.headers['x-session']);
      const session = JSON.parse(text);
      assert.deepEqual(
        [session.rate, session.per, session.quota_max, session.quota_remaining, session.quota_renewal_rate],
        [50, 60, 9, 8, 3600],
        format,
      );
      assert.ok(session.quota_renews > Date.now() / 1000, format);
      assert.deepEqual([session.tags, session.key_id, session.access_rights[id].versions], [['t'], keyId, ['Default']]);
      assert.doesNotMatch(text, /planted/);
    }
  });

  test('metadata that a hook returns is written to the key where it differs', async () => {
    const published = await publishKeyed(`{ seen: 'yes', plan: 'gold', policies: 'none' }`);
    for (const { request, readMeta, format } of published) {
      assert.equal((await request()).status, 200, format);
      await eventually(async () => assert.deepEqual(await readMeta(), { seen: 'yes', plan: 'gold' }, format));
      assert.equal((await request()).status, 200, format);
    }
  });

  test('metadata of a hook without the session, or of the same value, changes no key', async () => {
    for (const { request, readMeta, format } of await publishKeyed(`{ seen: 'yes' }`, { session: false })) {
      assert.equal((await request()).status, 200, format);
      assert.deepEqual(await readMeta(), { seen: 'no' }, format);
    }
    for (const { request, format } of await publishKeyed(`{ seen: 7 }`))
      assert.equal((await request()).status, 500, format);
    const [large] = await publishKeyed(`{ seen: 'x'.repeat(65536) }`);
    assert.equal((await large!.request()).status, 500);
    assert.deepEqual(await large!.readMeta(), { seen: 'no' });
  });

  test('more calls than allowed end the hook with 500', async () => {
    const { url } = (await publishBoth(app, upstream, evaluator))[0]!;
    const body = `for (let i = 0; i < 21; i++) GwStorageIncr('calls'); return 1;`;
    await eventually(async () => {
      assert.equal((await fetch(`${url}/x`, { method: 'POST', body })).status, 500);
    });
  });
});
