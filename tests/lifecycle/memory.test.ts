import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { eventually, scratch } from '../support/gw-process.ts';
import { anyPorts, endLeftOver, plainEnvironment, run } from '../support/program-copy.ts';

const { fresh, remove } = scratch('memory');
after(async () => {
  await endLeftOver();
  await remove();
});

/** With what V8 would keep of a start it is beyond 300 MB. */
const maxIdleKb = 225_000;

const readResidentKb = (pid: number) =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

test('an idle process with two traffic threads has returned the memory of its start', async () => {
  const environment = plainEnvironment({ ...anyPorts, GW_THREADS: '2', GW_DATA_DIR: fresh() });
  const started = run(['bin/gw', 'start'], join(import.meta.dirname, '../..'), environment);
  await started.until(/credentials\.json/);
  await eventually(() => readResidentKb(started.child.pid!) < maxIdleKb, 'the memory of the start is returned');
  assert.ok(readResidentKb(started.child.pid!) > 0);
  await started.stop();
});
