import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, publishBoth } from './support/both-formats.ts';
import { errorBody } from './support/step-harness.ts';
import { findUnavailableReason, openApi, publish, waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

type List = 'pre' | 'post' | 'post_key_auth' | 'response';
const oasNames: Record<List, string> = {
  pre: 'prePlugins',
  post: 'postPlugins',
  post_key_auth: 'postAuthenticationPlugins',
  response: 'responsePlugins',
};

interface Hook {
  readonly name: string;
  readonly path?: string;
  readonly code?: string;
  readonly session?: boolean;
}

const data = { word: 'hello' };

function typescript(list: List, { name, path = '', code = '', session = false }: Hook): BothFormats {
  const source = code === '' ? { path } : { path: '', code: Buffer.from(code).toString('base64') };
  return {
    classic: {
      custom_middleware: { driver: 'typescript', [list]: [{ name, ...source, require_session: session }] },
      config_data: data,
    },
    oas: {
      middleware: {
        global: {
          pluginConfig: { driver: 'typescript', data: { enabled: true, value: data } },
          [oasNames[list]]: [{ enabled: true, functionName: name, ...source, requireSession: session }],
        },
      },
    },
  };
}

const greeting = `import type { AuthHook, RequestHook, ResponseHook } from 'gatewright/plugin';
import { greet } from './lib/greet.ts';

interface Config { word: string }

export const pre: RequestHook<Config> = (request, context) => {
  request.headers.set('X-Greeting', greet(context.config.word, request.headers.get('x-name') ?? ''));
  request.headers.append('X-Name', 'second');
  request.headers.delete('X-Gone');
  request.query.delete('gone');
  request.query.append('more', 'a');
  request.query.append('more', 'b');
  request.body = request.body.toUpperCase();
  request.url = request.url.replace('/old', '/new');
  context.log('greeted ' + context.api.id);
};

export const reply: RequestHook = request =>
  request.headers.has('x-error')
    ? { status: 403, error: 'not today', headers: { 'X-Own': 'no' } }
    : { status: 201, body: { seen: request.method }, headers: { 'X-Own': 'yes' } };

export const response: ResponseHook = (response, request) => {
  response.status = 202;
  response.headers.set('X-Seen', request.method);
  response.headers.append('Set-Cookie', 'a=1');
  response.headers.append('Set-Cookie', 'b=2');
  response.body = response.body + '!';
};

export const fetching: RequestHook = async (request, context) => {
  const found = await context.fetch(request.headers.get('x-target')!, { method: 'POST', body: 'question' });
  request.headers.set('X-Found', found.status + found.headers['content-type']!);
};

export const failing: RequestHook = async () => {
  throw new Error('on line thirty-eight');
};

export const identity: RequestHook = () => ({ session: {}, id: 'me' }) as never;

export const auth: AuthHook<Config> = (request, context) => {
  if (request.headers.get('authorization') !== context.config.word) return;
  const rights = { [context.api.id]: { api_id: context.api.id, api_name: 'x', versions: ['Default'] } };
  return { session: { access_rights: rights, meta_data: { level: 'gold' } }, id: 'partner' };
};

export const post: RequestHook = (request, context) => {
  request.headers.set('X-Level', String(context.session?.meta_data.level));
};
`;
const greet = (sign: string) =>
  `export const greet = (word: string, name: string): string => \`\${word} \${name}${sign}\`;\n`;

/** Uses Node itself, which the sandbox does not have. */
const trusted = `import { createHash } from 'node:crypto';
import type { RequestHook } from 'gatewright/plugin';
import { label } from './label.ts';

export const pre: RequestHook = async request => {
  await new Promise(resolve => setImmediate(resolve));
  request.headers.set('X-Hash', createHash('sha256').update(label).digest('hex'));
};
export const endless: RequestHook = () => new Promise<void>(() => undefined);
export const failing: RequestHook = () => {
  throw new Error('on line eleven');
};
`;
/** Functions of the context without the context. */
const destructured = `import type { RequestHook } from 'gatewright/plugin';

export const pre: RequestHook = async (request, { fetch, log, storage: { delete: remove, get, increment, set, setIfAbsent } }) => {
  log('destructured');
  await set('seen', 'yes');
  const counts = [await setIfAbsent('seen', 'no'), await increment('count')];
  const { status } = await fetch(request.headers.get('x-target')!);
  request.headers.set('X-Found', [status, await get('seen'), ...counts].join());
  await remove('count');
};
`;
const label = (text: string) => `export const label: string = '${text}';\n`;

describe('TypeScript plugins', () => {
  let app: TestApp;
  let upstream: Upstream;
  /** Request whose hook does not end; its time passes during the tests. */
  let endless: Promise<Response>;
  const directory = mkdtempSync(join(tmpdir(), 'gw-typescript-'));
  const outside = mkdtempSync(join(tmpdir(), 'gw-outside-'));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  };
  before(async () => {
    write('greeting.ts', greeting);
    write('lib/greet.ts', greet('!'));
    write('trusted/hooks.ts', trusted);
    write('trusted/label.ts', label('one'));
    for (const file of ['destructured.ts', 'trusted/destructured.ts']) write(file, destructured);
    const settings = {
      'plugins.directory': directory,
      'plugins.trusted': 'trusted/hooks.ts,trusted/destructured.ts',
      'plugins.timeout_ms': '15000',
    };
    [app, upstream] = await Promise.all([startApp('sqlite', { settings }), startUpstream()]);
    const url = await publishOne('pre', { name: 'endless', path: 'trusted/hooks.ts' });
    endless = fetch(`${url}/x`);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    for (const folder of [directory, outside]) rmSync(folder, { recursive: true, force: true });
  });
  const publishHook = (list: List, hook: Hook) => publishBoth(app, upstream, typescript(list, hook));
  const publishOne = async (list: List, hook: Hook) => {
    const { classic } = typescript(list, hook);
    return publish(app, openApi(upstream, classic));
  };

  test('a request hook changes headers, parameters, body and path, and imports other files', async () => {
    for (const { url, format } of await publishHook('pre', { name: 'pre', path: 'greeting.ts' })) {
      const reply = await fetch(`${url}/old?gone=1&kept=2`, {
        method: 'POST',
        body: 'text é',
        headers: { 'x-name': 'Ann', 'x-gone': '1' },
      });
      assert.equal(reply.status, 200, format);
      const seen = upstream.requests.at(-1)!;
      assert.equal(seen.headers['x-greeting'], 'hello Ann!', format);
      assert.equal(seen.headers['x-name'], 'Ann, second');
      assert.equal(seen.headers['x-gone'], undefined);
      assert.match(seen.url, /\/new\?kept=2&more=a&more=b$/);
      assert.equal(seen.body, 'TEXT É');
    }
  });

  test('a returned response ends the request: as it is, or as an error of the API', async () => {
    const count = upstream.requests.length;
    for (const { url, format } of await publishHook('pre', { name: 'reply', path: 'greeting.ts' })) {
      const raw = await fetch(`${url}/x`);
      const { status, headers } = raw;
      assert.deepEqual([status, headers.get('x-own'), await raw.json()], [201, 'yes', { seen: 'GET' }], format);
      assert.equal(headers.get('content-type'), 'application/json');
      const error = await fetch(`${url}/x`, { headers: { 'x-error': '1' } });
      assert.deepEqual([error.status, error.headers.get('x-own')], [403, 'no']);
      assert.equal(await error.text(), errorBody('not today'));
    }
    assert.equal(upstream.requests.length, count);
  });

  test('a response hook changes status, headers and body', async () => {
    for (const { url, format } of await publishHook('response', { name: 'response', path: 'greeting.ts' })) {
      const reply = await fetch(`${url}/x`);
      assert.deepEqual([reply.status, reply.headers.get('x-seen')], [202, 'GET'], format);
      assert.deepEqual(reply.headers.getSetCookie(), ['a=1', 'b=2']);
      assert.match(await reply.text(), /!$/);
    }
  });

  test('an asynchronous hook awaits a request to another server, also in the sandbox', async () => {
    const url = await publishOne('pre', { name: 'fetching', path: 'greeting.ts' });
    const reply = await fetch(`${url}/x`, { headers: { 'x-target': `${upstream.url}/found` } });
    assert.equal(reply.status, 200);
    const [question, forwarded] = upstream.requests.slice(-2);
    assert.deepEqual([question!.url, question!.body], ['/found', 'question']);
    assert.match(String(forwarded!.headers['x-found']), /^200application\/json/);
  });

  for (const path of ['destructured.ts', 'trusted/destructured.ts'])
    test(`functions of the context work without it, in ${path}`, async () => {
      const url = await publishOne('pre', { name: 'pre', path });
      const reply = await fetch(`${url}/x`, { headers: { 'x-target': `${upstream.url}/found` } });
      assert.equal(reply.status, 200);
      assert.equal(upstream.requests.at(-1)!.headers['x-found'], '200,yes,false,1');
    });

  test('a hook authenticates clients, and later hooks get the session', async () => {
    const { classic } = typescript('post', { name: 'post', path: 'greeting.ts', session: true });
    const custom_middleware = {
      ...(classic.custom_middleware as object),
      auth_check: { name: 'auth', path: 'greeting.ts' },
    };
    const auth = { use_keyless: false, custom_plugin_auth_enabled: true, custom_middleware };
    const url = await publish(app, openApi(upstream, { ...classic, ...auth }));
    assert.equal((await fetch(`${url}/x`)).status, 403);
    assert.equal((await fetch(`${url}/x`, { headers: { authorization: data.word } })).status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-level'], 'gold');
  });

  test('a hook that fails, or returns a session without authenticating, gets 500', async () => {
    for (const name of ['failing', 'identity']) {
      const url = await publishOne('pre', { name, path: 'greeting.ts' });
      assert.equal((await fetch(`${url}/x`)).status, 500, name);
    }
  });

  test('code in a definition runs in the sandbox', async () => {
    const code = `export const pre = (request: { headers: Map<string, string> }) => {
      request.headers.set('X-Inline', typeof process + typeof require); };`;
    for (const { url, format } of await publishHook('pre', { name: 'pre', code })) {
      assert.equal((await fetch(`${url}/x`)).status, 200, format);
      assert.equal(upstream.requests.at(-1)!.headers['x-inline'], 'undefinedundefined');
    }
  });

  test('a trusted file runs in the traffic thread with all of Node', async () => {
    const url = await publishOne('pre', { name: 'pre', path: 'trusted/hooks.ts' });
    assert.equal((await fetch(`${url}/x`)).status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-hash'], createHash('sha256').update('one').digest('hex'));
    // The next definition that is loaded gets the changed file, and the file that it imports.
    write('trusted/label.ts', label('two'));
    const later = await publishOne('pre', { name: 'pre', path: 'trusted/hooks.ts' });
    assert.equal((await fetch(`${later}/x`)).status, 200);
    assert.equal(upstream.requests.at(-1)!.headers['x-hash'], createHash('sha256').update('two').digest('hex'));
  });

  test('a file of another organisation is never trusted, and cannot import one of the operator', async () => {
    const { accessKey, orgId } = await app.stranger();
    write(`${orgId}/trusted/hooks.ts`, trusted);
    write(`${orgId}/trusted/label.ts`, label('foreign'));
    write(`${orgId}/reach.ts`, `import { label } from '../trusted/label.ts';\nexport const pre = () => label;\n`);
    // In the sandbox there is no node:crypto.
    for (const path of ['trusted/hooks.ts', 'reach.ts']) {
      const { classic } = typescript('pre', { name: 'pre', path });
      const definition = openApi(upstream, classic);
      const body = { api_definition: definition };
      assert.equal((await app.ask('POST', '/api/apis', { body, credential: accessKey })).status, 200);
      await waitUntilApplied(app);
      const url = app.url.gateway + definition.proxy.listen_path;
      assert.equal((await fetch(url)).status, 503, path);
      if (path === 'reach.ts') assert.match(await findUnavailableReason(app, url), /not below plugins\.directory/);
    }
  });

  test('a trusted hook that throws or does not end gets 500', async () => {
    const url = await publishOne('pre', { name: 'failing', path: 'trusted/hooks.ts' });
    assert.equal((await fetch(`${url}/x`)).status, 500);
    assert.equal((await endless).status, 500);
  });

  test('an API whose module does not load is not served, and its status has file and line', async () => {
    write('broken.ts', 'export const a = 1;\nexport const pre = ((;\n');
    write('enums.ts', '\n\nenum Sign { A }\nexport const pre = () => undefined;\n');
    write('missing.ts', `import { x } from './nowhere.ts';\nexport const pre = x;\n`);
    write('leaving.ts', `import { x } from '../secret.ts';\nexport const pre = x;\n`);
    writeFileSync(join(outside, 'secret.ts'), 'export const x = () => undefined;');
    symlinkSync(join(outside, 'secret.ts'), join(directory, 'linked.ts'));
    for (const [path, reason] of [
      ['broken.ts', /broken\.ts:2: /],
      ['enums.ts', /enums\.ts:3: /],
      ['missing.ts', /missing\.ts imports nowhere\.ts: .*ENOENT/],
      ['leaving.ts', /leaving\.ts imports \.\.\/secret\.ts: .*not below plugins\.directory/],
      ['linked.ts', /not below plugins\.directory/],
      ['greeting.txt', /is not a \.ts or \.js file/],
    ] as const) {
      const url = await publishOne('pre', { name: 'pre', path });
      assert.match(await findUnavailableReason(app, url), reason, path);
      assert.equal((await fetch(`${url}/x`)).status, 503, path);
    }
    const url = await publishOne('pre', { name: 'absent', path: 'trusted/hooks.ts' });
    assert.match(await findUnavailableReason(app, url), /exports no function absent/);
  });
});
