import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { startApp, type TestApp } from '../support/app.ts';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { call, statusesIn } from './raw.ts';

/** Normalizes a path as a lenient upstream does: all escapes decoded, backslashes as slashes, dots resolved, case kept. */
function asRead(url: string): string {
  const [path = ''] = url.split('?', 1);
  const kept: string[] = [];
  for (const segment of decodeURIComponent(path).replaceAll('\\', '/').split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '.' && segment !== '') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

/** The same for an upstream that first strips the parameters of every segment. */
const asReadPlain = (url: string) => asRead(url.split('?', 1)[0]!.replaceAll(/(?:;|%3B)[^/]*/gi, ''));
const readings = (url: string) => [asRead(url), asReadPlain(url)];

const escapeCharacter = (character: string, hex: 'lower' | 'upper') => {
  const code = Buffer.from(character)
    .toString('hex')
    .replaceAll(/../g, byte => `%${byte}`);
  return hex === 'upper' ? code.toUpperCase() : code;
};

/** An arbitrary encoding of one path character. */
const spellCharacter = (character: string) =>
  character === '/'
    ? fc.constantFrom('/', '//', '/./', '/x/../', '/%2e/', '/x/%2e%2e/', '%2f', '/;/../', '\\', ';x=1/', '/;y/')
    : fc.constantFrom(
        character,
        escapeCharacter(character, 'lower'),
        escapeCharacter(character, 'upper'),
        `%25${escapeCharacter(character, 'lower').slice(1)}`,
      );

const spellPath = (path: string) =>
  fc
    .tuple(
      ...[...path].map(spellCharacter),
      fc.constantFrom('', '/', '/.', '?x', '?/../y', '/x/..', ';', ';x=1', '%3Bx', ';x/', '/;', ';/..;a'),
    )
    .map(parts => parts.join(''));

describe('Path rules', () => {
  let app: TestApp;
  let upstream: Upstream;
  let port = 0;
  before(async () => {
    [app, upstream] = await Promise.all([startApp('sqlite', { settings: { 'log.level': 'error' } }), startUpstream()]);
    port = Number(new URL(app.url.gateway).port);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
  });

  const lists = (extended_paths: object, more: object = {}) =>
    openApi(upstream, {
      version_data: {
        not_versioned: true,
        versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } },
      },
      ...more,
    });

  /** Sends every encoding on a connection of its own, so that one refusal does not hide the next. */
  async function ask(target: string, head = ''): Promise<{ status: number; reached: string | undefined }> {
    const before = upstream.requests.length;
    const one = await call(port);
    one.send(Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\n${head}Connection: close\r\n\r\n`, 'latin1'));
    await one.closed;
    one.leave();
    return { status: statusesIn(one.received())[0] ?? 0, reached: upstream.requests[before]?.url };
  }

  /** The path as in the definition, and as a client sends it. */
  const blocked: readonly (readonly [pattern: string, path: string])[] = [
    ['/admin', '/admin'],
    ['/admin/users', '/admin/users'],
    ['/a@b', '/a@b'],
    ["/it's\\(1\\)", "/it's(1)"],
    ['/it%28s%29', '/it(s)'],
    ['/a b', '/a b'],
    ['/café', '/café'],
    ['/x%2By=z&w', '/x+y=z&w'],
    ['/v1.0/{id}', '/v1.0/7'],
    ['/%61lias', '/alias'],
  ];
  const closed = blocked.map(([, path]) => path);

  test('a block list applies to every encoding of a blocked path', async () => {
    const url = new URL(await publish(app, lists({ black_list: blocked.map(([path]) => ({ path, method: 'GET' })) })));
    for (const path of closed) {
      assert.equal((await ask(url.pathname + encodeURI(path))).status, 403, path);
      await fc.assert(
        fc.asyncProperty(spellPath(path), async spelling => {
          const { reached } = await ask(
            url.pathname +
              encodeURI(spelling)
                .replaceAll('%25', '%')
                .replaceAll(/%(?![0-9A-Fa-f]{2})/g, '%25'),
          );
          if (reached === undefined) return;
          for (const reading of readings(reached))
            assert.ok(!closed.includes(reading), `${spelling} reached ${reached}`);
        }),
        { numRuns: 60 },
      );
    }
  });

  test('an allow list admits no other path in any encoding', async () => {
    const open = ['/public', '/public/a'];
    const url = new URL(await publish(app, lists({ white_list: open.map(path => ({ path, method: 'GET' })) })));
    assert.equal((await ask(`${url.pathname}/public`)).status, 200);
    const targets = fc.oneof(
      spellPath('/public/../admin'),
      spellPath('/admin'),
      spellPath('/public/a/../../admin'),
      spellPath('/public'),
      spellPath('/publicx'),
    );
    await fc.assert(
      fc.asyncProperty(targets, async spelling => {
        const { reached } = await ask(url.pathname + spelling);
        if (reached === undefined) return;
        for (const reading of readings(reached)) assert.ok(open.includes(reading), `${spelling} reached ${reached}`);
      }),
      { numRuns: 300 },
    );
  });

  test('an endpoint without authentication opens no other path in any encoding', async () => {
    const definition = lists(
      { ignored: [{ path: '/open', method: 'GET' }] },
      { use_keyless: false, use_standard_auth: true },
    );
    const url = new URL(await publish(app, definition));
    assert.equal((await ask(`${url.pathname}/open`)).status, 200);
    const targets = fc.oneof(
      spellPath('/open/../closed'),
      spellPath('/closed'),
      spellPath('/open/closed'),
      spellPath('/open'),
    );
    await fc.assert(
      fc.asyncProperty(targets, async spelling => {
        const { reached } = await ask(url.pathname + spelling);
        if (reached === undefined) return;
        for (const reading of readings(reached)) assert.equal(reading, '/open', `${spelling} reached ${reached}`);
      }),
      { numRuns: 300 },
    );
  });

  test('no encoding of a path bypasses an endpoint rate limit of an API or a key', async () => {
    const rate = { rate: 1, per: 3600 };
    const limited = lists({ rate_limit: [{ path: '/dear/{id}', method: 'GET', ...rate }] });
    const keyed = lists({}, { use_keyless: false, use_standard_auth: true });
    const [ofApi, ofKey] = [await publish(app, limited), await publish(app, keyed)];
    const endpoints = [{ path: '/dear/{id}', methods: [{ name: 'GET', limit: rate }] }];
    const { body } = await app.ask('POST', '/api/keys', { body: { access_rights: { [keyed.api_id]: { endpoints } } } });
    await waitUntilApplied(app);
    for (const [url, head] of [
      [ofApi, ''],
      [ofKey, `Authorization: ${body.key_id}\r\n`],
    ] as const) {
      const { pathname } = new URL(url);
      assert.equal((await ask(`${pathname}/dear/7`, head)).status, 200);
      assert.equal((await ask(`${pathname}/cheap/7`, head)).status, 200);
      await fc.assert(
        fc.asyncProperty(spellPath('/dear/7'), async spelling => {
          const { reached } = await ask(pathname + spelling, head);
          if (reached === undefined) return;
          for (const reading of readings(reached))
            assert.notEqual(reading, '/dear/7', `${spelling} reached ${reached}`);
        }),
        { numRuns: 200 },
      );
    }
  });

  test('no encoding of a path leaves the target path or reaches another API', async () => {
    const inside = openApi({ url: `${upstream.url}/inside` });
    const url = new URL(await publish(app, inside));
    const pieces = fc.array(
      fc.constantFrom(
        '/',
        '..',
        '.',
        '%2e',
        '%2E%2e',
        '%2f',
        '\\',
        '%5c',
        ';',
        'a',
        '//',
        '%252e',
        '..;',
        '%00',
        '?',
        '#',
        '%c0%ae',
        '/../',
        '@',
        ':',
        '%',
        ' ',
      ),
      { maxLength: 10 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, async parts => {
        const { reached, status } = await ask(`${url.pathname}/${parts.join('')}`);
        if (reached !== undefined) {
          assert.match(reached, /^\/inside(\/|$|\?)/);
          assert.match(asRead(reached.replace(/\?.*$/, '')), /^\/inside(\/|$)/, `${parts.join('')} reached ${reached}`);
        } else assert.ok([400, 404, 431, 505].includes(status), `${parts.join('')}: ${status}`);
      }),
      { numRuns: 400 },
    );
  });
});
