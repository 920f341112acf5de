import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readThreadCpuMs } from '#base/process.ts';
import { type GuestCall, type GuestFile, GuestLoadError, type GuestSet } from './guest.ts';
import { createScriptSandbox } from './sandbox.ts';

const limits = { maxMemoryBytes: 16 << 20, maxOutputBytes: 1 << 20, maxLogBytes: 10_000 };
const now = () => performance.now();
const create = () => createScriptSandbox(limits, now);

const encode = (
  hook: string,
  given: Partial<{ kind: string; headers: string[]; session: string; seed: number }> = {},
) => {
  const headers = given.headers ?? ['Host', 'a.example', 'Accept', '*/*'];
  return [
    given.seed ?? 1,
    given.kind ?? 'request',
    hook,
    'GET',
    '/x?y=1',
    '/x?y=1',
    'http',
    given.session ?? '',
    headers.length / 2,
    0,
    0,
    ...headers,
  ].join('\n');
};
const call = (head: string, more: Partial<GuestCall> = {}): GuestCall => ({
  head,
  body: '',
  nowMs: 1000,
  results: [],
  sliceMs: 2000,
  minCpuMs: 0,
  ...more,
});
const set = (files: readonly GuestFile[], hooks: readonly string[], data: unknown = {}): GuestSet => ({
  owner: 'org',
  files,
  hooks,
  data,
});
const plugin = (body: string) => `var counter = 0; var mw = new GwJS.GwMiddleware.NewMiddleware({});
mw.NewProcessRequest(function (request, session, config) { ${body}
  return mw.ReturnData(request, {}); });`;

function run(source: string, more: Partial<GuestCall> = {}, data: unknown = {}) {
  const sandbox = create();
  const image = sandbox.load(set([{ name: 'p.js', source }], ['mw'], data), 2000);
  return sandbox.run(image, call(encode('mw'), more));
}
const changes = (source: string, more: Partial<GuestCall> = {}, data: unknown = {}) => {
  const outcome = run(source, more, data);
  assert.equal(outcome.kind, 'result', JSON.stringify(outcome));
  return JSON.parse((outcome as { text: string }).text);
};

describe('plugin sandbox', () => {
  test('a hook sets headers, and what it did not change does not come back', () => {
    assert.deepEqual(
      changes(plugin(`request.SetHeaders['x-a'] = request.Headers.Host[0] + config.APIID;`), {}, { APIID: 'api' }),
      {
        SetHeaders: { 'x-a': 'a.exampleapi' },
        SessionMeta: {},
      },
    );
  });

  test('global variables of a call are gone in the next', () => {
    const sandbox = create();
    const image = sandbox.load(
      set(
        [
          {
            name: 'p.js',
            source: plugin(`counter++; request.SetHeaders.n = String(counter); Array.prototype.map = null;`),
          },
        ],
        ['mw'],
        {},
      ),
      2000,
    );
    for (let i = 0; i < 3; i++) {
      const outcome = sandbox.run(image, call(encode('mw')));
      assert.deepEqual(outcome.kind === 'result' && JSON.parse(outcome.text).SetHeaders, { n: '1' });
    }
  });

  test('zeroes that a call overwrote are zeroes again in the next', () => {
    const sandbox = createScriptSandbox(limits, now);
    const source = `var bytes = new Uint8Array(65536); var seen = new Array(5000).fill(0);\n${plugin(
      `seen[2500]++; request.SetHeaders.n = [bytes[40000], bytes[10], seen[2500]].join(); bytes.fill(7);`,
    )}`;
    const image = sandbox.load(set([{ name: 'p.js', source }], ['mw'], {}), 2000);
    for (let i = 0; i < 3; i++) {
      const outcome = sandbox.run(image, call(encode('mw')));
      assert.deepEqual(outcome.kind === 'result' && JSON.parse(outcome.text).SetHeaders, { n: '0,0,1' });
    }
  });

  test('scripts that hold much data are refused, and log lines are bounded', () => {
    const load = (code: string) =>
      create().load(set([{ name: 'p.js', source: `${code} ${plugin('')}` }], ['mw'], {}), 2000);
    assert.throws(() => load('var a = new Uint8Array(14e6).fill(1);'), /the scripts hold more than/);
    const outcome = run(plugin(`for (var i = 0; i < 5000; i++) log('');`));
    assert.equal(outcome.kind === 'result' && outcome.logs.length, 50);
  });

  test('a script that replaces JSON breaks its own calls only', () => {
    assert.deepEqual(
      changes(plugin(`JSON.stringify = JSON.parse = () => 'none'; request.SetHeaders.a = 'b';`)).SetHeaders,
      { a: 'b' },
    );
  });

  test('plugin sets do not see each other', () => {
    const sandbox = create();
    const first = sandbox.load(set([{ name: 'a.js', source: plugin(`globalThis.secret = 'a';`) }], ['mw'], {}), 2000);
    const second = sandbox.load(
      set([{ name: 'b.js', source: plugin(`request.SetHeaders.s = typeof secret;`) }], ['mw'], {}),
      2000,
    );
    for (let i = 0; i < 3; i++) {
      sandbox.run(first, call(encode('mw')));
      const outcome = sandbox.run(second, call(encode('mw')));
      assert.deepEqual(outcome.kind === 'result' && JSON.parse(outcome.text).SetHeaders, { s: 'undefined' });
    }
  });

  test('a script in its own function does not collide with another of the same names', () => {
    const sandbox = create();
    const file = (name: string, hook: string, value: string) => ({
      name,
      source: `const shared = '${value}'; const ${hook} = GwJS.GwMiddleware.NewMiddleware({}); ${hook}.NewProcessRequest(r => { r.SetHeaders.v = shared; return ${hook}.ReturnData(r, {}); });`,
      exports: hook,
    });
    const image = sandbox.load(set([file('a.js', 'one', '1'), file('b.js', 'two', '2')], ['one', 'two'], {}), 2000);
    for (const [hook, v] of [
      ['one', '1'],
      ['two', '2'],
    ] as const) {
      const outcome = sandbox.run(image, call(encode(hook)));
      assert.deepEqual(outcome.kind === 'result' && JSON.parse(outcome.text).SetHeaders, { v });
    }
  });

  test('a waiting host function ends the run, and the next run continues with its result', () => {
    const source = plugin(`request.SetHeaders.r = GwStorageGet('k') + GwStorageGet('l') + Math.random();`);
    const first = run(source);
    assert.deepEqual(first, { kind: 'call', name: 'GwStorageGet', argument: '["k"]' });
    const results = ['{"value":"1"}'];
    assert.deepEqual(run(source, { results }), { kind: 'call', name: 'GwStorageGet', argument: '["l"]' });
    const done = changes(source, { results: [...results, '{"value":"2"}'] });
    assert.match(done.SetHeaders.r, /^120\.\d+$/);
  });

  test('a guest cannot catch the end of its run', () => {
    assert.equal(
      run(
        plugin(`try { GwStorageGet('k'); } catch (e) { return mw.ReturnData(request, {}); } finally { log('never'); }`),
      ).kind,
      'call',
    );
    assert.equal(
      run(plugin(`for (;;) { try { for (;;) {} } catch (e) { continue; } }`), { sliceMs: 30 }).kind,
      'interrupted',
    );
  });

  test('random numbers depend on the seed of the call', () => {
    const sandbox = create();
    const image = sandbox.load(
      set([{ name: 'p.js', source: plugin(`request.SetHeaders.r = String(Math.random());`) }], ['mw'], {}),
      2000,
    );
    const text = (seed: number) => (sandbox.run(image, call(encode('mw', { seed }))) as { text: string }).text;
    assert.equal(text(7), text(7));
    assert.notEqual(text(7), text(8));
  });

  test('an exception has its file and line', () => {
    const outcome = run(plugin(`\n\n  throw new Error('broken');`));
    assert.deepEqual(outcome.kind === 'failed' && outcome.fault, { type: 'runtime', message: 'broken', at: 'p.js:4' });
  });

  test('a script that does not parse, defines no hook or does not end is refused when loaded', () => {
    const load = (source: string) => () => create().load(set([{ name: 'p.js', source }], ['mw'], {}), 50);
    assert.throws(
      load('var x = ;'),
      (error: GuestLoadError) =>
        error instanceof GuestLoadError && error.fault.type === 'syntax' && /^p\.js:1: /.test(error.message),
    );
    assert.throws(load('var y = 1;'), /no script defines mw/);
    assert.throws(load('for (;;) {}'), /does not end/);
    assert.throws(load(`GwStorageGet('x')`), /cannot be called while the script loads/);
  });

  const bombs: Record<string, string> = {
    strings: `var a = []; for (;;) a.push('x'.repeat(1000) + a.length);`,
    objects: `var a = []; for (;;) a.push({ n: a.length });`,
    'typed arrays': `var a = []; for (;;) a.push(new Uint8Array(65536));`,
    recursion: `(function f() { f(); })();`,
    'a large result': `request.Body = 'x'.repeat(4 << 20);`,
    'regular expressions': `/^(a+)+$/.test('a'.repeat(40) + 'b');`,
    json: `var s = '['.repeat(200000); try { JSON.parse(s); } catch (e) { throw new Error('deep'); }`,
  };
  for (const [name, code] of Object.entries(bombs))
    test(`a plugin that exhausts ${name} fails, and the next call works`, () => {
      const sandbox = create();
      const good = sandbox.load(
        set([{ name: 'good.js', source: plugin(`request.SetHeaders.ok = '1';`) }], ['mw'], {}),
        2000,
      );
      const bad = sandbox.load(set([{ name: 'bad.js', source: plugin(code) }], ['mw'], {}), 2000);
      for (let i = 0; i < 3; i++) {
        const outcome = sandbox.run(bad, call(encode('mw'), { sliceMs: 500 }));
        assert.ok(outcome.kind === 'failed' || outcome.kind === 'interrupted', JSON.stringify(outcome).slice(0, 200));
        const next = sandbox.run(good, call(encode('mw')));
        assert.equal(next.kind, 'result');
      }
    });

  /** Built-in functions that run for minutes without a bytecode instruction. */
  const nativeLoops: Record<string, string> = {
    'array functions': '[].reverse.call({ length: 2 ** 40 });',
    'searches in texts': `var s = 'ab'.repeat(1e6); s.lastIndexOf('b' + 'ab'.repeat(2e5) + 'a');`,
    'large numbers': `var n = 3n ** 200000n; String(n * n);`,
    'regular expressions': `/^(a+)+$/.test('a'.repeat(60) + 'b');`,
    'copies of memory': `var bytes = new Uint8Array(8e6); Array.from({ length: 1e5 }, bytes.fill.bind(bytes, 1));`,
  };
  for (const [name, code] of Object.entries(nativeLoops))
    test(`a call in ${name} ends with its time slice`, () => {
      assert.equal(run(plugin(code), { sliceMs: 5 }).kind, 'interrupted');
    });

  test('a call behind its time slice ends after its processor time, or half a second', () => {
    let nowMs = 0;
    const sandbox = createScriptSandbox(limits, () => nowMs);
    const source = plugin(`for (let i = 0; i < 1e5; i++) request.SetHeaders.n = String(i);`);
    const image = sandbox.load(set([{ name: 'p.js', source }], ['mw'], {}), 2000);
    /** The clock is behind the slice from the start, as it is where the thread did not get the processor. */
    const runOverdue = (overdueMs: number, startCpuMs: number) => {
      nowMs = overdueMs;
      return sandbox.run(image, call(encode('mw'), { sliceMs: -overdueMs, minCpuMs: 60_000, startCpuMs })).kind;
    };
    const startCpuMs = readThreadCpuMs();
    assert.equal(runOverdue(400, startCpuMs), 'result');
    assert.equal(runOverdue(400, startCpuMs - 60_000), 'interrupted');
    assert.equal(runOverdue(600, startCpuMs), 'interrupted');
  });

  test('nothing of the host is reachable', () => {
    const names = [
      'process',
      'require',
      'fetch',
      'WebAssembly',
      'Buffer',
      'navigator',
      'queueMicrotask',
      '__gwRegister',
    ];
    const found = changes(
      plugin(`request.SetHeaders.found = ${JSON.stringify(names)}.filter(n => typeof globalThis[n] !== 'undefined').join();
      request.SetHeaders.code = String(log.constructor('return typeof process')());`),
    );
    assert.deepEqual(found.SetHeaders, { found: '', code: 'undefined' });
  });

  test('a header named __proto__ is no prototype', () => {
    const sandbox = create();
    const image = sandbox.load(
      set(
        [{ name: 'p.js', source: plugin(`request.SetHeaders.keys = Object.keys(request.Headers).join();`) }],
        ['mw'],
        {},
      ),
      2000,
    );
    const outcome = sandbox.run(image, call(encode('mw', { headers: ['__proto__', 'x', 'constructor', 'y'] })));
    assert.deepEqual(outcome.kind === 'result' && JSON.parse(outcome.text).SetHeaders, { keys: 'constructor' });
  });

  test('texts of any characters and length pass unchanged', () => {
    const body = `é\u0000\n${'€'.repeat(20_000)}`;
    const out = changes(
      plugin(`request.Body = request.Body + '!'; request.SetHeaders.h = b64enc('é') + b64dec('w6k') + rawb64enc('a');`),
      { body },
    );
    assert.equal(out.Body, `${body}!`);
    assert.deepEqual(out.SetHeaders, { h: 'w6k=éYQ' });
  });

  test('hundreds of calls that keep a megabyte leave the memory of the process as it was', () => {
    const sandbox = create();
    const image = sandbox.load(
      set([{ name: 'p.js', source: plugin(`globalThis.kept = 'x'.repeat(1 << 20);`) }], ['mw'], {}),
      2000,
    );
    const used = () => process.memoryUsage().rss;
    for (let i = 0; i < 50; i++) sandbox.run(image, call(encode('mw')));
    const before = used();
    for (let i = 0; i < 300; i++) sandbox.run(image, call(encode('mw')));
    assert.ok(used() - before < 100 << 20, `grew by ${(used() - before) >> 20} MB`);
  });
});
