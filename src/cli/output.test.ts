import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { runChild } from '../../tests/support/gw-process.ts';
import { replaceLineControls } from './output.ts';

test('control characters of an error are replaced before they reach the terminal, and lines are kept', async t => {
  assert.equal(replaceLineControls('a\u001b[2K\nb\r\u0007\n'), 'a�[2K\nb��\n');
  const directory = mkdtempSync(join(tmpdir(), 'gw-output-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const { code, err } = await runChild(['import', '/nonexistent/x\u001b]52;c;eA\u0007\ny'], { directory });
  assert.equal(code, 1);
  assert.match(err, /x�\]52;c;eA�\ny cannot be read \(ENOENT\)/);
  assert.ok(!err.includes('\u001b') && !err.includes('\u0007'));
});
