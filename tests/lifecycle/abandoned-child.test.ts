import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { scratch } from '../support/gw-process.ts';

const { fresh, remove } = scratch('abandoned-child');
after(remove);
const testFile = join(import.meta.dirname, '../support/abandoned-child.ts');
const maxRunMs = 120_000;

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
    return false;
  }
}

test('a test file whose assertion fails before it stops its child ends, and the child with it', async () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const file = spawn(process.execPath, [testFile, fresh()], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const output = text(file.stdout);
  const hung = setTimeout(() => file.kill('SIGTERM'), maxRunMs);
  const [code, signal] = await once(file, 'close');
  clearTimeout(hung);
  const childId = Number(/child (\d+)\./.exec(await output)?.[1]);
  const isLeft = isRunning(childId);
  if (isLeft) process.kill(childId, 'SIGKILL');
  assert.deepEqual({ code, signal, isLeft }, { code: 1, signal: null, isLeft: false });
});
