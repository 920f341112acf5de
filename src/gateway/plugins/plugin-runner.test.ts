import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { systemClock } from '#base/clock.ts';
import { readSettings, type Settings } from '#base/settings.ts';
import {
  createPluginRunner,
  type HookResult,
  type HostCall,
  type PluginRunner,
  type PluginSet,
} from './plugin-runner.ts';

const noHost: HostCall = async () => assert.fail('a function of the host was called');
const headers = (more: readonly string[]) => ['Host', 'a.example', ...more];
const encode = (more: readonly string[]) => {
  const list = headers(more);
  return ['request', 'mw', 'GET', '/', '/', 'http', '', list.length / 2, 0, 0, ...list].join('\n');
};
const loadSource = (runner: PluginRunner, body: string, start = ''): PluginSet =>
  runner.load({
    owner: 'org',
    files: [
      {
        name: 'p.js',
        source: `${start} var mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request) { ${body} return mw.ReturnData(request, {}); });`,
      },
    ],
    hooks: ['mw'],
    data: {},
  });

const attack = ['X-Attack', '1'];
const run = (set: PluginSet, more: readonly string[] = [], body = '', host = noHost) =>
  set.run({ head: encode(more), body }, host);
const readHeaders = ({ text }: HookResult) => JSON.parse(text).SetHeaders;

/** Calls until one returns at once, which is one on this thread. */
async function callUntilOnThread(set: PluginSet, host = noHost): Promise<HookResult> {
  for (let i = 0; i < 5000; i++) {
    const result = run(set, [], '', host);
    if (!(result instanceof Promise)) return result;
    await result;
  }
  return assert.fail('the set stayed on workers');
}

describe('threads of plugins', () => {
  const runners: PluginRunner[] = [];
  const create = (settings: Partial<Settings> = {}) => {
    const runner = createPluginRunner({ ...readSettings({}), 'plugins.timeout_ms': 2000, ...settings }, systemClock);
    runners.push(runner);
    return runner;
  };
  after(() => Promise.all(runners.map(runner => runner.close())));

  test('short calls move from a worker to the traffic thread, with the same result', async () => {
    const set = loadSource(create(), `request.SetHeaders.a = request.Headers.Host[0];`);
    const first = run(set);
    assert.ok(first instanceof Promise);
    assert.deepEqual(readHeaders(await first), { a: 'a.example' });
    assert.deepEqual(readHeaders(await callUntilOnThread(set)), { a: 'a.example' });
  });

  test('with plugins.run_on: worker no call runs on the traffic thread', async () => {
    const set = loadSource(create({ 'plugins.run_on': 'worker' }), '');
    for (let i = 0; i < 60; i++) {
      const result = run(set);
      assert.ok(result instanceof Promise);
      await result;
    }
  });

  const attacks: Readonly<Record<string, string>> = {
    'an endless loop': 'for (;;);',
    'a loop in native code': '[].reverse.call({ length: 2 ** 40 });',
    'a memory bomb': 'const a = []; for (;;) a.push(new Array(1e5).fill(1));',
    'an endless recursion': 'const f = () => f() + 1; f();',
    'base64 of long texts': `const s = 'x'.repeat(1e6); for (;;) b64enc(s);`,
  };
  for (const [name, code] of Object.entries(attacks))
    test(`${name} in a call on the traffic thread leaves the thread, and fails on a worker`, async () => {
      const set = loadSource(create(), `if (request.Headers['X-Attack']) { ${code} }`);
      await callUntilOnThread(set);
      const attacked = run(set, attack);
      assert.ok(attacked instanceof Promise);
      await assert.rejects(attacked, { name: 'Error' });
      // Further calls run on workers, until enough of them were short.
      assert.ok(run(set) instanceof Promise);
      await callUntilOnThread(set);
    });

  test('calls at the stack limit, however short, never bring a set to the traffic thread', async () => {
    const set = loadSource(create(), `if (request.Headers['X-Attack']) { const f = () => f(); f(); }`);
    for (let i = 0; i < 100; i++) await assert.rejects(async () => run(set, attack), { type: 'memory' });
    const next = run(set);
    assert.ok(next instanceof Promise);
    await next;
    await callUntilOnThread(set);
  });

  test('long calls that end by themselves leave the traffic thread', async () => {
    const set = loadSource(
      create(),
      `if (request.Headers['X-Attack']) { let n = 0; while (n < 3e5) n++; request.SetHeaders.a = String(n); }`,
    );
    await callUntilOnThread(set);
    for (let i = 0; i < 20; i++) assert.deepEqual(readHeaders(await run(set, attack)), { a: '300000' });
    assert.ok(run(set) instanceof Promise);
  });

  test('a call that starts over on a worker repeats no function of the host', async () => {
    const set = loadSource(
      create(),
      `request.SetHeaders.n = GwStorageIncr('n');
      if (request.Headers['X-Attack']) for (const end = Date.now(), a = []; a.length < 3e5;) a.push(end);`,
    );
    let calls = 0;
    const host: HostCall = async () => String(++calls);
    // The first run on the thread ends at the function, so that its result is a promise there too.
    for (let i = 0; i < 100; i++) await run(set, [], '', host);
    const before = calls;
    assert.deepEqual(readHeaders(await run(set, attack, '', host)), { n: String(before + 1) });
    assert.equal(calls, before + 1);
  });

  test('a long body is read on a worker, and the set stays on the traffic thread', async () => {
    const set = loadSource(create(), `request.SetHeaders.n = String(request.Body.length);`);
    await callUntilOnThread(set);
    const result = run(set, [], 'x'.repeat(100_000));
    assert.ok(result instanceof Promise);
    assert.deepEqual(readHeaders(await result), { n: '100000' });
    assert.ok(!(run(set) instanceof Promise));
  });

  test('a long result comes from a worker, unless it has too many values', async () => {
    const set = loadSource(
      create(),
      `if (request.Headers['X-Attack']) request.Body = 'x'.repeat(1e5);
      if (request.Headers['X-Values']) request.SetHeaders = Array.from({ length: 6e4 }, (_, i) => i);`,
    );
    await callUntilOnThread(set);
    const { text } = await run(set, attack);
    assert.equal(JSON.parse(text).Body.length, 1e5);
    await assert.rejects(async () => run(set, ['X-Values', '1']), { message: 'the result has more than 50000 values' });
  });

  test('a set with a large image stays on workers', async () => {
    const set = loadSource(create(), '', 'var held = new Uint8Array(2e6).fill(1);');
    for (let i = 0; i < 100; i++) {
      const result = run(set);
      assert.ok(result instanceof Promise);
      await result;
    }
  });

  test('an exception on the traffic thread has its file and line, and leaves the set there', async () => {
    const set = loadSource(
      create(),
      `\nif (request.Headers['X-Attack']) throw new Error('broken');\nif (request.Body) JSON.parse(request.Body);`,
    );
    await callUntilOnThread(set);
    await assert.rejects(async () => run(set, attack), { message: 'p.js:3: broken' });
    await assert.rejects(async () => run(set, [], '{'), { type: 'syntax', message: /^p\.js:4: / });
    assert.ok(!(run(set) instanceof Promise));
  });
});
