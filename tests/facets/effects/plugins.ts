import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '#base/json-tree.ts';
import { writeZip } from '#base/zip-writer.ts';
import { eventually } from '../../support/upstream.ts';
import { basic, basicUser } from '../auth-methods.ts';
import { calls, lists, requireKeyClassic, requireKeyOas } from '../definitions.ts';
import type { Effect, Served } from '../effect.ts';

/** Plugins in JavaScript, and virtual endpoints. */

export interface HookPlace {
  readonly name: 'pre' | 'postAuth' | 'post' | 'response';
  readonly classic: string;
  readonly oas: string;
}

export const places: readonly HookPlace[] = [
  { name: 'pre', classic: 'pre', oas: 'prePlugins' },
  { name: 'postAuth', classic: 'post_key_auth', oas: 'postAuthenticationPlugins' },
  { name: 'post', classic: 'post', oas: 'postPlugins' },
  { name: 'response', classic: 'response', oas: 'responsePlugins' },
];

export const encode = (code: string) => Buffer.from(code).toString('base64');

/** Script whose hook sets the header `X-Plugin`. */
export const script = ({ name }: HookPlace, value: string) => {
  const [call, subject, result] =
    name === 'response'
      ? [
          'NewProcessResponse(function (message, request, session, config)',
          'message',
          'ReturnResponseData(message, {})',
        ]
      : ['NewProcessRequest(function (message, session, config)', 'message', 'ReturnData(message, {})'];
  return `var mw = new GwJS.GwMiddleware.NewMiddleware({}); mw.${call} { ${subject}.SetHeaders['X-Plugin'] = ${value}; return mw.${result}; });`;
};

/** Value of the header where the hook set it. */
async function observeHeader({ name }: HookPlace, { call, key, upstream }: Served): Promise<string | null> {
  const reply = await call('/', { headers: { authorization: await key({ meta_data: { level: 'gold' } }) } });
  assert.equal(reply.status, 200, reply.text);
  if (name === 'response') return reply.headers.get('x-plugin');
  return (upstream.requests.at(-1)!.headers['x-plugin'] as string | undefined) ?? null;
}

interface Hook {
  readonly code: string;
  readonly requireSession?: boolean;
  readonly rawBodyOnly?: boolean;
  readonly isFile?: boolean;
}

/** Scripts that effects wrote, below `plugins.directory`. */
const pluginDirectory = mkdtempSync(join(tmpdir(), 'gw-plugin-effects-'));

function writeScript(name: string, code: string): string {
  writeFileSync(join(pluginDirectory, name), code);
  return name;
}

const source = ({ code, isFile }: Hook) => (isFile ? { path: code } : { path: '', code: encode(code) });
const listRaw = ({ rawBodyOnly }: Hook, name: string) => (rawBodyOnly ? { [name]: true } : {});

export const classic = (place: HookPlace, hook: Hook, more: JsonObject = {}, driver = 'otto'): JsonObject => ({
  ...requireKeyClassic(),
  custom_middleware: {
    driver,
    [place.classic]: [
      {
        name: 'mw',
        ...source(hook),
        ...listRaw(hook, 'raw_body_only'),
        require_session: hook.requireSession ?? false,
        disabled: false,
      },
    ],
  },
  ...more,
});

export const oas = (place: HookPlace, hook: Hook, pluginConfig: JsonObject = {}, driver = 'otto') =>
  requireKeyOas({
    x: {
      middleware: {
        global: {
          pluginConfig: { driver, ...pluginConfig },
          [place.oas]: [
            {
              enabled: true,
              functionName: 'mw',
              ...source(hook),
              ...listRaw(hook, 'rawBodyOnly'),
              requireSession: hook.requireSession ?? false,
            },
          ],
        },
      },
    },
  });

const hooks: readonly Effect[] = places.flatMap((place): Effect[] => [
  {
    rows: `plugins.${place.name},${place.name}[].enabled,${place.name}[].functionName,${place.name}[].code pluginConfig.driver`,
    promise: `a ${place.name} plugin in JavaScript runs`,
    classic: () => classic(place, { code: script(place, `'on'`) }),
    oas: () => oas(place, { code: script(place, `'on'`) }),
    async observe(at) {
      assert.equal(await observeHeader(place, at), 'on');
    },
  },
  {
    rows: `plugins.${place.name}[].requireSession`,
    promise: `a ${place.name} plugin gets the session where it requires one`,
    classic: () =>
      classic(place, { code: script(place, `String((session.meta_data || {}).level)`), requireSession: true }),
    oas: () => oas(place, { code: script(place, `String((session.meta_data || {}).level)`), requireSession: true }),
    async observe(at) {
      // Before authentication there is no session.
      assert.equal(await observeHeader(place, at), place.name === 'pre' ? 'undefined' : 'gold');
    },
  },
]);

const [pre] = places as [HookPlace];

const files: readonly Effect[] = places.map((place): Effect => {
  const file = `${place.name}.js`;
  return {
    rows: `plugins.${place.name}[].path`,
    promise: `a ${place.name} plugin can be a file`,
    settings: { 'plugins.directory': pluginDirectory },
    classic: () => classic(place, { code: writeScript(file, script(place, `'file'`)), isFile: true }),
    oas: () => oas(place, { code: writeScript(file, script(place, `'file'`)), isFile: true }),
    async observe(at) {
      assert.equal(await observeHeader(place, at), 'file');
    },
  };
});

const data: readonly Effect[] = [
  {
    rows: 'pluginConfig.dataEnabled,data',
    promise: 'plugins get the data of the definition',
    classic: () =>
      classic(
        pre,
        { code: script(pre, 'config.config_data.greeting') },
        { config_data: { greeting: 'hi' }, config_data_disabled: false },
      ),
    oas: () =>
      oas(
        pre,
        { code: script(pre, 'config.config_data.greeting') },
        { data: { enabled: true, value: { greeting: 'hi' } } },
      ),
    async observe(at) {
      assert.equal(await observeHeader(pre, at), 'hi');
    },
  },
];

/** Bundle with a pre hook that sets the header `X-Plugin`. */
function writeBundle(name: string): string {
  const source = Buffer.from(script(pre, `'bundle'`));
  const manifest = {
    file_list: ['pre.js'],
    custom_middleware: { driver: 'otto', pre: [{ name: 'mw', path: 'pre.js' }] },
    checksum: createHash('md5').update(source).digest('hex'),
  };
  const files = new Map([
    ['manifest.json', Buffer.from(JSON.stringify(manifest))],
    ['pre.js', source],
  ]);
  writeFileSync(join(pluginDirectory, name), writeZip(files));
  return name;
}

const bundles: readonly Effect[] = [
  {
    rows: 'pluginConfig.bundleEnabled,bundlePath',
    promise: 'the plugins of a bundle run',
    settings: { 'plugins.bundles.base_url': pathToFileURL(pluginDirectory).href },
    classic: () => ({
      ...requireKeyClassic(),
      custom_middleware_bundle: writeBundle('bundle.zip'),
      custom_middleware_bundle_disabled: false,
    }),
    oas: () =>
      requireKeyOas({
        x: {
          middleware: {
            global: { pluginConfig: { bundle: { enabled: true, path: writeBundle('bundle.zip') } } },
          },
        },
      }),
    async observe(at) {
      assert.equal(await observeHeader(pre, at), 'bundle');
    },
  },
];

const responding = `function respond(request, session) { return GwJsResponse({ Body: 'virtual ' + (session.meta_data || {}).level, Code: 203 }, {}); }`;
const failing = `function respond() { throw new Error('x'); }`;

interface Virtual {
  readonly code: string;
  readonly isFile?: boolean;
  readonly requireSession?: boolean;
  readonly proxyOnError?: boolean;
}

const virtualClassic = ({ code, isFile, requireSession = false, proxyOnError = false }: Virtual): JsonObject => ({
  ...requireKeyClassic(),
  ...lists({
    virtual: [
      {
        path: '/thing',
        method: 'POST',
        disabled: false,
        response_function_name: 'respond',
        function_source_type: isFile ? 'file' : 'blob',
        function_source_uri: isFile ? code : encode(code),
        use_session: requireSession,
        proxy_on_error: proxyOnError,
      },
    ],
  }),
});

const virtualOas = ({ code, isFile, requireSession = false, proxyOnError = false }: Virtual) => ({
  paths: { '/thing': { post: { operationId: 'postThing', responses: {} } } },
  ...requireKeyOas({
    x: {
      middleware: {
        operations: {
          postThing: {
            virtualEndpoint: {
              enabled: true,
              functionName: 'respond',
              ...(isFile ? { path: code } : { body: encode(code) }),
              requireSession,
              proxyOnError,
            },
          },
        },
      },
    },
  }),
});

const both = (given: () => Virtual): Pick<Effect, 'classic' | 'oas'> => ({
  classic: () => virtualClassic(given()),
  oas: () => virtualOas(given()),
});

async function post({ call, key }: Served) {
  return call('/thing', { method: 'POST', headers: { authorization: await key({ meta_data: { level: 'gold' } }) } });
}

const virtual: readonly Effect[] = [
  {
    rows: 'endpoints.virtualEndpoint.path,method,enabled,functionName,mode,source,body',
    promise: 'a script responds in place of the upstream',
    ...both(() => ({ code: responding })),
    async observe(at) {
      const reply = await post(at);
      assert.deepEqual([reply.status, reply.text], [203, 'virtual undefined']);
    },
  },
  {
    rows: 'endpoints.virtualEndpoint.requireSession',
    promise: 'the script of a virtual endpoint gets the session where it requires one',
    ...both(() => ({ code: responding, requireSession: true })),
    async observe(at) {
      assert.equal((await post(at)).text, 'virtual gold');
    },
  },
  {
    rows: 'endpoints.virtualEndpoint.proxyOnError',
    promise: 'a request whose script fails is forwarded where the definition says so',
    ...both(() => ({ code: failing, proxyOnError: true })),
    async observe(at) {
      assert.equal((await post(at)).status, 200);
    },
  },
  {
    rows: 'endpoints.virtualEndpoint.file',
    promise: 'the script of a virtual endpoint can be a file',
    settings: { 'plugins.directory': pluginDirectory },
    ...both(() => ({ code: writeScript('virtual.js', responding), isFile: true })),
    async observe(at) {
      assert.equal((await post(at)).status, 203);
    },
  },
];

const ofEndpoint = (hook: JsonObject): Pick<Effect, 'classic' | 'oas'> => ({
  classic: () => ({
    ...requireKeyClassic(),
    custom_middleware: { driver: 'otto' },
    ...lists({ go_plugin: [{ path: '/thing', method: 'POST', disabled: false, func_name: 'mw', ...hook }] }),
  }),
  oas: () => ({
    paths: { '/thing': { post: { operationId: 'postThing', responses: {} } } },
    ...requireKeyOas({
      x: {
        middleware: {
          global: { pluginConfig: { driver: 'otto' } },
          operations: {
            postThing: {
              postPlugins: [
                {
                  enabled: true,
                  functionName: 'mw',
                  ...('code' in hook ? { code: hook.code } : { path: hook.plugin_path }),
                },
              ],
            },
          },
        },
      },
    }),
  }),
});

async function observeEndpoint(at: Served, value: string): Promise<void> {
  const seen = () => at.upstream.requests.at(-1)!.headers['x-plugin'];
  assert.equal((await post(at)).status, 200);
  assert.equal(seen(), value);
  await at.call('/thing', { headers: { authorization: await at.key({}) } });
  assert.equal(seen(), undefined);
}

const endpointScript = script(pre, `'endpoint ' + session.meta_data.level`);

const endpointPlugins: readonly Effect[] = [
  {
    rows: 'endpoints.endpointPlugin.path,method,enabled,functionName,code',
    promise: 'a plugin of an endpoint runs for its requests only, with the session',
    ...ofEndpoint({ code: encode(endpointScript) }),
    observe: at => observeEndpoint(at, 'endpoint gold'),
  },
  {
    rows: 'endpoints.endpointPlugin.file',
    promise: 'a plugin of an endpoint can be a file',
    settings: { 'plugins.directory': pluginDirectory },
    ...ofEndpoint({ plugin_path: writeScript('endpoint.js', endpointScript) }),
    observe: at => observeEndpoint(at, 'endpoint gold'),
  },
];

const authScript = `var auth = new GwJS.GwMiddleware.NewMiddleware({}); auth.NewProcessRequest(function (request, session, config) {
  var found = (request.Headers['X-Pass'] || request.Params.pass || [request.Headers.Cookie && 'cookie'])[0];
  if (!found) return auth.ReturnData(request, {});
  var rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
  return auth.ReturnAuthData(request, { access_rights: rights }, found); });`;

interface AuthSource {
  readonly classic: JsonObject;
  readonly oas: JsonObject;
}

export const authClassic = (plugin: JsonObject, source: JsonObject): JsonObject => ({
  use_keyless: false,
  custom_plugin_auth_enabled: true,
  strip_auth_data: true,
  auth_configs: { coprocess: source },
  custom_middleware: { driver: 'otto', auth_check: { name: 'auth', disabled: false, ...plugin } },
});

export const authOas = (plugin: JsonObject, source: JsonObject) => ({
  x: {
    server: {
      authentication: {
        enabled: true,
        stripAuthorizationData: true,
        custom: { enabled: true, ...source, config: { enabled: true, functionName: 'auth', ...plugin } },
      },
    },
    middleware: { global: { pluginConfig: { driver: 'otto' } } },
  },
});

export const inHeader: AuthSource = {
  classic: { disable_header: false, auth_header_name: 'X-Pass' },
  oas: { header: { enabled: true, name: 'X-Pass' } },
};
const inQuery: AuthSource = {
  classic: { disable_header: true, use_param: true, param_name: 'pass' },
  oas: { query: { enabled: true, name: 'pass' } },
};
const inCookie: AuthSource = {
  classic: { disable_header: true, use_cookie: true, cookie_name: 'pass' },
  oas: { cookie: { enabled: true, name: 'pass' } },
};

const inline = { path: '', code: encode(authScript) };

const authentication: readonly Effect[] = [
  {
    rows: 'custom.enabled,pluginEnabled,functionName,code,headerEnabled,headerName',
    promise: 'a plugin authenticates clients, and their header is stripped where the definition says so',
    classic: () => authClassic(inline, inHeader.classic),
    oas: () => authOas(inline, inHeader.oas),
    async observe({ call, upstream }) {
      assert.equal((await call('/')).status, 403);
      assert.equal((await call('/', { headers: { 'x-pass': 'me' } })).status, 200);
      assert.equal(upstream.requests.at(-1)!.headers['x-pass'], undefined);
    },
    ownControl: 'it compares requests with and without the credential',
  },
  {
    rows: 'custom.queryEnabled,queryName',
    promise: 'the query parameter of authentication by plugin is stripped',
    classic: () => authClassic(inline, inQuery.classic),
    oas: () => authOas(inline, inQuery.oas),
    async observe({ call, upstream }) {
      assert.equal((await call('/?pass=me&kept=1')).status, 200);
      assert.match(upstream.requests.at(-1)!.url, /\/\?kept=1$/);
    },
  },
  {
    rows: 'custom.cookieEnabled,cookieName',
    promise: 'the cookie of authentication by plugin is stripped',
    classic: () => authClassic(inline, inCookie.classic),
    oas: () => authOas(inline, inCookie.oas),
    async observe({ call, upstream }) {
      assert.equal((await call('/', { headers: { cookie: 'pass=me; kept=1' } })).status, 200);
      assert.equal(upstream.requests.at(-1)!.headers.cookie, 'kept=1');
    },
  },
  {
    rows: 'custom.path',
    promise: 'the plugin that authenticates can be a file',
    settings: { 'plugins.directory': pluginDirectory },
    classic: () => authClassic({ path: writeScript('auth.js', authScript) }, inHeader.classic),
    oas: () => authOas({ path: writeScript('auth.js', authScript) }, inHeader.oas),
    async observe({ call }) {
      assert.equal((await call('/', { headers: { 'x-pass': 'me' } })).status, 200);
    },
  },
];

/** Authenticates with the alias of the session that it got. */
const sessionScript = `var auth = new GwJS.GwMiddleware.NewMiddleware({}); auth.NewProcessRequest(function (request, session, config) {
  request.SetHeaders['X-Alias'] = session.alias || 'none';
  var rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
  return auth.ReturnAuthData(request, { access_rights: rights }, 'any'); });`;

const afterBasic: readonly Effect[] = [
  {
    rows: 'custom.requireSession',
    promise: 'a plugin that authenticates gets the session of the method before it',
    classic: () => ({
      ...authClassic({ path: '', code: encode(sessionScript), require_session: true }, inHeader.classic),
      use_basic_auth: true,
    }),
    oas: () => ({
      components: { securitySchemes: { password: { type: 'http', scheme: 'basic' } } },
      security: [{ password: [] }],
      x: {
        server: {
          authentication: {
            enabled: true,
            securitySchemes: { password: { enabled: true, header: { enabled: true, name: 'Authorization' } } },
            custom: {
              enabled: true,
              ...inHeader.oas,
              config: { enabled: true, functionName: 'auth', code: encode(sessionScript), requireSession: true },
            },
          },
        },
        middleware: { global: { pluginConfig: { driver: 'otto' } } },
      },
    }),
    async observe(at) {
      const user = await basicUser(at, { alias: 'ann' });
      await eventually(async () => {
        assert.equal((await at.call('/', { headers: { authorization: basic(user) } })).status, 200);
      });
      assert.equal(at.upstream.requests.at(-1)!.headers['x-alias'], 'ann');
    },
  },
];

/** Authenticates every client, and marks requests that it checked. */
const checkingScript = `var auth = new GwJS.GwMiddleware.NewMiddleware({}); auth.NewProcessRequest(function (request, session, config) {
  request.SetHeaders['X-Checked'] = '1';
  var rights = {}; rights[config.APIID] = { api_id: config.APIID, api_name: 'x', versions: ['Default'] };
  var deadline = request.Headers['X-Past'] ? 1 : Math.floor(Date.now() / 1000) + 600;
  return auth.ReturnAuthData(request, { access_rights: rights, id_extractor_deadline: deadline }, 'any'); });`;
const checking = { path: '', code: encode(checkingScript) };

function extract(source: string, method: string, classicConfig: JsonObject, oasConfig: JsonObject) {
  const plain = authClassic(checking, inHeader.classic) as { custom_middleware: JsonObject };
  const extractor = { disabled: false, extract_from: source, extract_with: method, extractor_config: classicConfig };
  return {
    classic: (): JsonObject => ({
      ...plain,
      custom_middleware: { ...plain.custom_middleware, id_extractor: extractor },
    }),
    oas: () =>
      authOas({ ...checking, idExtractor: { enabled: true, source, with: method, config: oasConfig } }, inHeader.oas),
  };
}

/** True where the plugin was called for this request. */
async function isChecked({ call, upstream }: Served, body: string, headers: Record<string, string> = {}) {
  const reply = await call('/', { method: 'POST', body, headers });
  assert.equal(reply.status, 200, reply.text);
  return upstream.requests.at(-1)!.headers['x-checked'] === '1';
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };

const idExtractors: readonly Effect[] = [
  {
    rows: 'idExtractor.enabled,source,with,headerName',
    promise: 'a plugin authenticates the same header value once, until the deadline of its session',
    ...extract('header', 'value', { header_name: 'X-Id' }, { headerName: 'X-Id' }),
    async observe(at) {
      const send = (id: string, more = {}) => isChecked(at, '', { 'x-id': id, ...more });
      assert.deepEqual([await send('ann'), await send('ann'), await send('bob')], [true, false, true]);
      assert.deepEqual([await send('eve', { 'x-past': '1' }), await send('eve', { 'x-past': '1' })], [true, true]);
      const missing = await at.call('/');
      assert.deepEqual([missing.status, JSON.parse(missing.text).error], [400, 'Authorization field missing']);
    },
  },
  {
    rows: 'idExtractor.formParamName',
    promise: 'the id of a client can be a field of a form',
    ...extract('form', 'value', { param_name: 'user' }, { formParamName: 'user' }),
    async observe(at) {
      const send = (id: string) => isChecked(at, `a=${Math.random()}&user=${id}`, form);
      assert.deepEqual([await send('ann'), await send('ann'), await send('bob')], [true, false, true]);
    },
  },
  {
    rows: 'idExtractor.regexp,regexpMatchIndex',
    promise: 'the id of a client can be the match of a regular expression',
    ...extract(
      'header',
      'regex',
      { header_name: 'X-Id', regex_expression: '[a-z][0-9]', regex_match_index: 1 },
      { headerName: 'X-Id', regexp: '[a-z][0-9]', regexpMatchIndex: 1 },
    ),
    async observe(at) {
      const send = (id: string) => isChecked(at, '', { 'x-id': id });
      assert.deepEqual([await send('a1 b2'), await send('c3 b2'), await send('a1 d4')], [true, false, true]);
    },
  },
  {
    rows: 'idExtractor.xPathExp',
    promise: 'the id of a client can be an element of XML',
    ...extract('body', 'xpath', { xpath_expression: '//user/@id' }, { xPathExp: '//user/@id' }),
    async observe(at) {
      const send = (id: string, text: string) => isChecked(at, `<a><user id="${id}">${text}</user></a>`);
      assert.deepEqual([await send('1', 'x'), await send('1', 'y'), await send('2', 'x')], [true, false, true]);
      assert.equal((await at.call('/', { method: 'POST', body: '<a' })).status, 400);
    },
  },
];

const recordScript = 'function change(record, config) { record.alias = config.APIID; }';

const recordClassic = (source: JsonObject): JsonObject => ({
  custom_middleware: { driver: 'javascript' },
  analytics_plugin: { enable: true, func_name: 'change', ...source },
});

const recordOas = (source: JsonObject) => ({
  x: {
    middleware: {
      global: {
        pluginConfig: { driver: 'javascript' },
        trafficLogs: { enabled: true, plugins: [{ enabled: true, functionName: 'change', ...source }] },
      },
    },
  },
});

async function observeRecord(at: Served): Promise<void> {
  assert.equal((await at.call('/')).status, 200);
  assert.equal((await calls(at))[0]!.alias, at.id);
}

const recordNames = (name: string, listed: string) => `trafficLogs.plugin${name},plugins[].${listed}`;

const recordPlugins: readonly Effect[] = [
  {
    rows: `trafficLogs.plugins ${recordNames('Enabled', 'enabled')} ${recordNames('Function', 'functionName')} ${recordNames('Code', 'code')}`,
    promise: 'a plugin changes analytics records',
    classic: () => recordClassic({ code: encode(recordScript) }),
    oas: () => recordOas({ code: encode(recordScript) }),
    observe: observeRecord,
  },
  {
    rows: recordNames('Path', 'path'),
    promise: 'the plugin that changes analytics records can be a file',
    settings: { 'plugins.directory': pluginDirectory },
    classic: () => recordClassic({ plugin_path: writeScript('record.js', recordScript) }),
    oas: () => recordOas({ path: writeScript('record.js', recordScript) }),
    observe: observeRecord,
  },
];

export const pluginEffects: readonly Effect[] = [
  ...[
    ...recordPlugins,
    ...hooks,
    ...files,
    ...data,
    ...bundles,
    ...virtual,
    ...endpointPlugins,
    ...authentication,
    ...afterBasic,
    ...idExtractors,
  ],
];
