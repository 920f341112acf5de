import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { eventually } from '../../tests/support/upstream.ts';
import { createLineOutput } from './line-output.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-lines-'));
after(() => rmSync(directory, { recursive: true }));
let files = 0;
const freshPath = () => join(directory, `${++files}.log`);
const readText = (path: string) => readFileSync(path, 'latin1');

const openOutput = (path: string, more: { maxBufferBytes?: number; flushIntervalMs?: number } = {}) => {
  const errors: string[] = [];
  const onError = (error: Error) => errors.push(error.message);
  return createLineOutput({ path, maxBufferBytes: 1_000_000, onError, ...more }).then(output => ({ output, errors }));
};

describe('Line output', () => {
  test('lines are written in order, by the interval and at the end, to a file that others cannot read', async () => {
    const path = freshPath();
    const { output, errors } = await openOutput(path, { flushIntervalMs: 1 });
    assert.equal(output.write('one\n'), true);
    await eventually(() => assert.equal(readText(path), 'one\n'));
    for (let line = 0; line < 1000; line++) output.write(`${line} ${'x'.repeat(200)}\n`);
    await output.close();
    const lines = readText(path).trimEnd().split('\n');
    assert.deepEqual(
      lines.slice(1).map(line => Number.parseInt(line, 10)),
      Array.from({ length: 1000 }, (_, at) => at),
    );
    assert.equal(statSync(path).mode & 0o007, 0);
    assert.deepEqual(errors, []);
  });

  test('two outputs on one file do not mix their lines', async () => {
    const path = freshPath();
    const outputs = await Promise.all(['a', 'b'].map(() => openOutput(path, { flushIntervalMs: 1 })));
    for (let line = 0; line < 2000; line++)
      outputs.forEach(({ output }, at) => {
        output.write(`${'ab'[at]!.repeat(100)}\n`);
      });
    await Promise.all(outputs.map(({ output }) => output.close()));
    const lines = readText(path).trimEnd().split('\n');
    assert.equal(lines.length, 4000);
    assert.deepEqual([...new Set(lines)].sort(), ['a'.repeat(100), 'b'.repeat(100)]);
  });

  test('a line beyond the buffer is dropped, and there is room again after a write', async () => {
    const path = freshPath();
    const { output } = await openOutput(path, { maxBufferBytes: 10, flushIntervalMs: 1 });
    assert.deepEqual([output.write('12345678\n'), output.write('dropped\n')], [true, false]);
    await eventually(() => assert.equal(output.write('later\n'), true));
    await output.close();
    assert.equal(readText(path), '12345678\nlater\n');
  });

  test('a file that was moved is opened again, at once when requested, with no line lost', async () => {
    const path = freshPath();
    const { output } = await openOutput(path, { flushIntervalMs: 1 });
    output.write('first\n');
    await eventually(() => assert.equal(readText(path), 'first\n'));
    renameSync(path, `${path}.1`);
    await output.reopen();
    output.write('second\n');
    await eventually(() => assert.equal(readText(path), 'second\n'));
    renameSync(path, `${path}.2`);
    await eventually(() => assert.equal(readText(path), ''));
    output.write('third\n');
    await output.close();
    assert.deepEqual([`${path}.1`, `${path}.2`, path].map(readText), ['first\n', 'second\n', 'third\n']);
  });

  test('lines whose write fails are counted, and the error is reported once', async () => {
    const { output, errors } = await openOutput('/dev/full', { flushIntervalMs: 1 });
    for (let line = 1; line <= 2; line++) {
      output.write('lost\n');
      let lost = 0;
      await eventually(() => {
        lost += output.drainLost();
        assert.equal(lost, 1);
      });
    }
    await output.close();
    assert.equal(errors.length, 1);
    assert.match(errors[0]!, /ENOSPC/);
  });
});
