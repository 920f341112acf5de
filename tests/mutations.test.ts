import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { applyMutation, mutationsOf } from '../tools/mutation/mutations.ts';
import { maskSource } from '../tools/mutation/source-mask.ts';
import { createTestSelection } from '../tools/mutation/test-selection.ts';

describe('mutation testing', () => {
  const applyMutations = (source: string) => mutationsOf(source).map(it => applyMutation(source, it));

  test('comments, strings, template text and regular expressions are masked, expressions in templates are not', () => {
    const open = '$' + '{';
    const rows: [source: string, code: string][] = [
      ['a // b === c\nd', 'a\nd'],
      ['a /* b\nc */ d', 'a\nd'],
      [`'a === b' + c`, '+ c'],
      [`\`a ${open}b === c} d\` + e`, 'b === c + e'],
      [`\`${open}\`${open}a}\` + b}\` + c`, 'a + b + c'],
      ['x = /a === [/]b/g.test(y)', 'x = .test(y)'],
      ['a / b / c', 'a / b / c'],
      [`f({ a: 'x}', b }) === c`, 'f({ a: , b }) === c'],
    ];
    const squeezeLines = (text: string) =>
      text
        .replaceAll(/ *\n */g, '\n')
        .replaceAll(/ +/g, ' ')
        .trim();
    for (const [source, code] of rows) {
      assert.equal(maskSource(source).length, source.length, source);
      assert.equal(squeezeLines(maskSource(source)), code, source);
    }
  });

  test('each operator changes one place and leaves code that parses', () => {
    assert.deepEqual(applyMutations('const a = b === c;'), ['const a = b !== c;']);
    assert.deepEqual(applyMutations('const a = b < c;'), ['const a = b <= c;']);
    assert.deepEqual(applyMutations('const a = b ?? c;'), ['const a = b && c;']);
    assert.deepEqual(applyMutations('const a = 1000;'), ['const a = 0;']);
    assert.deepEqual(applyMutations('const a = { b: true };'), ['const a = { b: false };']);
    assert.deepEqual(applyMutations('function f() {\n  if (a) return b;\n}'), [
      'function f() {\n  ;\n}',
      'function f() {\n  if (!(a)) return b;\n}',
    ]);
    assert.deepEqual(applyMutations('function f() {\n  a.b(c);\n}'), ['function f() {\n  ;\n}']);
    assert.deepEqual(applyMutations('async function f() {\n  await a.b(c);\n}'), [
      'async function f() {\n  ;\n}',
      'async function f() {\n  a.b(c);\n}',
    ]);
  });

  test('types, texts and generics are left alone', () => {
    assert.deepEqual(
      applyMutations(
        `interface A {\n  readonly b: true;\n}\ntype C = 'a === b' | false;\nconst d = new Map<string, true>();`,
      ),
      [],
    );
  });

  test('log calls are left alone, the code around them is not', () => {
    assert.deepEqual(applyMutations(`tools.log.warn({ a: b ?? c, d: true }, 'e');`), []);
    assert.deepEqual(applyMutations('function f() {\n  log.error(\n    { a: (b as C) === d },\n  );\n}'), []);
    assert.deepEqual(applyMutations(`a === b && log.info('c');`), [
      `a !== b && log.info('c');`,
      `a === b || log.info('c');`,
    ]);
    assert.deepEqual(applyMutations('const a = keys.log(b === c);'), ['const a = keys.log(b !== c);']);
  });

  test('a file’s own test comes first, then tests beside and below it, of its callers, and product-level ones that share a word', () => {
    const root = mkdtempSync(join(tmpdir(), 'gw-selection-'));
    try {
      const files: Record<string, string> = {
        'src/limits/rate-guard.ts': '',
        'src/limits/throttle.ts': `import './none.ts';\nimport { a } from './rate-guard.ts';`,
        'src/limits/rate-guard.test.ts': `import { a } from './rate-guard.ts';`,
        'src/limits/throttle.test.ts': `import { b } from '#limits/throttle.ts';`,
        'src/limits/unrelated.test.ts': '',
        'src/limits/below/windows.test.ts': '',
        'src/routes/answer.ts': `import { b } from '#limits/throttle.ts';`,
        'src/routes/sockets.test.ts': '',
        'src/access/keys.test.ts': `import { b } from '#limits/throttle.ts';`,
        'tests/chain.test.ts': `import { a } from '../src/limits/rate-guard.ts';`,
        'tests/tenant-rates.test.ts': '',
        'tests/life/limits.test.ts': '',
        'tests/titles.test.ts': `test('a guard is titled', () => {});`,
        'tests/separate.test.ts': `test('nothing of it', () => {});`,
      };
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(join(root, dirname(path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      const selection = createTestSelection(root);
      assert.deepEqual(selection.testsFor('src/limits/rate-guard.ts', 10), [
        'src/limits/rate-guard.test.ts',
        'tests/chain.test.ts',
        'src/limits/throttle.test.ts',
        'src/limits/below/windows.test.ts',
        'src/limits/unrelated.test.ts',
        'src/routes/sockets.test.ts',
        'tests/tenant-rates.test.ts',
        'tests/life/limits.test.ts',
        'tests/titles.test.ts',
        'src/access/keys.test.ts',
      ]);
      assert.deepEqual(
        selection.testsFor('src/limits/rate-guard.ts', 3),
        ['src/limits/rate-guard.test.ts', 'tests/chain.test.ts', 'tests/tenant-rates.test.ts'],
        'unit tests leave room for a product-level test',
      );
    } finally {
      rmSync(root, { recursive: true });
    }
  });

  // Copies the repository and starts both services: on a busy machine that takes longer than other tests may.
  test('a signal ends the tests and the services and removes the copy of the tree', { timeout: 600_000 }, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gw-mutate-signal-'));
    chmodSync(directory, 0o755);
    const root = join(import.meta.dirname, '..');
    const args = ['--no-warnings', 'tools/mutate.ts', '--files', 'src/base/clock.ts', '--count', '1'];
    const tool = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, TMPDIR: directory },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const ended = once(tool, 'exit');
      await Promise.race([once(tool.stdout, 'data'), ended]);
      tool.kill('SIGTERM');
      assert.deepEqual(await ended, [1, null]);
      assert.deepEqual(readdirSync(directory), []);
    } finally {
      tool.kill('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  });
});
