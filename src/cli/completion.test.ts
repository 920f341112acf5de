import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runChild } from '../../tests/support/gw-process.ts';
import { completionShells, formatCompletion } from './completion.ts';

describe('gw completion', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gw-completion-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  const commands = [
    { name: 'start', flags: { role: { type: 'string', about: "a role's name" } } },
    {
      name: 'import',
      actions: ['one', 'two'],
      flags: { format: { type: 'string', short: 'f', about: 'format', choices: ['curl', 'har'] } },
    },
  ] as const;

  /** Candidates that bash offers for the last word. */
  function complete(...words: string[]): string[] {
    const path = join(folder, 'gw.bash');
    writeFileSync(path, formatCompletion('bash', commands));
    const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gw; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr, status } = spawnSync('bash', ['-c', script, 'bash', path, ...words], { encoding: 'utf8' });
    assert.equal(status, 0, stderr);
    return stdout.split('\n').filter(Boolean);
  }

  test('bash completes commands, actions, flags and values of flags', () => {
    assert.deepEqual(complete('gw', ''), ['start', 'import', '--help', '--version']);
    assert.deepEqual(complete('gw', 'im'), ['import']);
    assert.deepEqual(complete('gw', 'import', ''), ['one', 'two', '--format']);
    assert.deepEqual(complete('gw', 'import', '--format', 'c'), ['curl']);
    assert.deepEqual(complete('gw', 'import', '-f', ''), ['curl', 'har']);
    assert.deepEqual(complete('gw', 'unknown', ''), []);
  });

  test('scripts of all shells have every command and flag; another shell is an error', () => {
    for (const shell of completionShells) {
      const script = formatCompletion(shell, commands);
      for (const word of ['start', 'import', 'one', 'role', 'format', 'har'])
        assert.ok(script.includes(word), `${shell}: ${word}`);
    }
    assert.match(formatCompletion('fish', commands), /-d 'a role\\'s name'/);
    assert.throws(() => formatCompletion('tcsh', commands), /completion needs a shell: bash, zsh, fish/);
  });

  test('gw completion prints the script for its own commands and settings', async () => {
    const { code, out } = await runChild(['completion', 'bash'], { directory: folder });
    assert.equal(code, 0);
    for (const word of ['migrate-from', '--gateway.port', '--rotate-master', '--demo', '--remove', 'swagger'])
      assert.ok(out.includes(word), word);
  });
});
