import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLog } from '#base/log.ts';
import { createSelfBuildingApp } from './self-building-app.ts';

test('an app that is stopped while it looks for a build starts none', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-test-'));
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: line => void lines.push(line) });
  try {
    const app = createSelfBuildingApp(directory, log, [directory]);
    const ensured = app.ensureBuilt();
    app.stop();
    await ensured;
    assert.deepEqual(lines, []);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
