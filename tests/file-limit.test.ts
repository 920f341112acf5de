import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('a test file that leaves a server open is ended after its limit, has failed and names what is open', t => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-file-limit-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'open.test.mjs');
  writeFileSync(
    file,
    `import { createServer } from 'node:net';
    import { test } from 'node:test';
    test('listens', (_, done) => createServer().listen(0, '127.0.0.1', done));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const limit = join(import.meta.dirname, '../tools/file-limit.ts');
  const { status, stdout } = spawnSync(process.execPath, ['--test', `--import=${limit}`, file], {
    env: { ...env, GW_TEST_FILE_LIMIT_MS: '5000' },
    encoding: 'utf8',
  });
  assert.equal(status, 1, stdout);
  assert.match(stdout, /open\.test\.mjs has run for 5 s and is ended\. Still open: .*TCPServerWrap/);
});
