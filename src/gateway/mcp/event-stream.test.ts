import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createEventTransform } from './event-stream.ts';

const upper = (data: string) => data.toUpperCase();

/** Writes a stream in parts and returns everything written. */
function run(parts: readonly Buffer[], change = upper, maxBytes = 1000): string {
  const transform = createEventTransform(change, maxBytes);
  const written = parts.flatMap(part => (transform.write(part) as Buffer | undefined) ?? []);
  const rest = transform.end();
  return Buffer.concat(rest ? [...written, rest] : written).toString();
}

describe('Transform of server-sent events', () => {
  test('an event is written as soon as its blank line has arrived', () => {
    const transform = createEventTransform(upper, 1000);
    assert.equal(transform.write(Buffer.from('id: 1\ndata: a\n')), undefined);
    assert.equal(transform.write(Buffer.from('\ndata: b'))?.toString(), 'id: 1\ndata: A\n\n');
    assert.equal(transform.write(Buffer.from('c\n\n'))?.toString(), 'data: BC\n\n');
    assert.equal(transform.end(), undefined);
  });

  test('data split over lines is one text', () => {
    assert.equal(run([Buffer.from('data: {"a":\ndata: "b"}\n\n')]), 'data: {"A":\ndata: "B"}\n\n');
    assert.equal(run([Buffer.from('data:a\rdata: b\r\rdata:c\r\n\r\n')]), 'data: A\ndata: B\n\ndata: C\n\n');
  });

  test('an event whose data stays the same is written as it came', () => {
    const text = ': comment\r\n\r\nevent: ping\rdata:A\r\rid: 7\nretry: 5\n\ndata: B\n\n';
    assert.equal(run([Buffer.from(text)]), text);
  });

  test('an event without an end is changed at the end of the stream', () => {
    assert.equal(run([Buffer.from('data: a')]), 'data: A\n\n');
  });

  test('an event whose data cannot be read fails the stream, and is dropped at its end', () => {
    const failing = () => createEventTransform(() => new Error('unreadable'), 1000);
    assert.equal((failing().write(Buffer.from('data: a\n\n')) as Error).message, 'unreadable');
    const incomplete = failing();
    incomplete.write(Buffer.from('data: a'));
    assert.equal(incomplete.end(), undefined);
  });

  test('a large event in small chunks is copied a bounded number of times', t => {
    const [chunkBytes, chunks] = [64, 4000];
    let allocated = 0;
    const { allocUnsafe, concat } = Buffer;
    t.mock.method(Buffer, 'allocUnsafe', (bytes: number) => {
      allocated += bytes;
      return allocUnsafe(bytes);
    });
    t.mock.method(Buffer, 'concat', (list: readonly Buffer[]) => {
      const joined = concat(list);
      allocated += joined.length;
      return joined;
    });
    const transform = createEventTransform(upper, 1_000_000);
    transform.write(Buffer.from('data: '));
    for (let at = 0; at < chunks; at++) transform.write(Buffer.alloc(chunkBytes, 'a'));
    const written = transform.write(Buffer.from('\n\n')) as Buffer;
    assert.equal(written.length, 'data: \n\n'.length + chunkBytes * chunks);
    assert.ok(allocated < 10 * chunkBytes * chunks, `${allocated} bytes`);
  });

  test('an event beyond the bound fails the stream', () => {
    const transform = createEventTransform(upper, 10);
    assert.match(String(transform.write(Buffer.from('data: 1234567890'))), /exceeds 10 bytes/);
  });

  test('the result does not depend on how the stream is split', () => {
    const line = fc.constantFrom('data: a', 'data:é', 'data', 'id: 1', ': c', '', '', 'event: x');
    const end = fc.constantFrom('\n', '\r\n', '\r');
    fc.assert(
      fc.property(fc.array(fc.tuple(line, end)), fc.array(fc.nat({ max: 60 })), (lines, cuts) => {
        const bytes = Buffer.from(lines.flat().join(''));
        const places = [...new Set(cuts.filter(cut => cut < bytes.length))].sort((a, b) => a - b);
        const parts = [0, ...places].map((from, at) => bytes.subarray(from, places[at] ?? bytes.length));
        assert.equal(run(parts), run([bytes]));
      }),
    );
  });
});
