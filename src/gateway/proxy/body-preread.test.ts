import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { eventually } from '../../../tests/support/upstream.ts';
import { Body } from '../http/body.ts';
import { createPreread } from './body-preread.ts';

/** Body whose chunks the test sends one by one. */
function createSource() {
  const sent: (Uint8Array | Error | undefined)[] = [];
  let wake: () => void = () => undefined;
  let isReturned = false;
  async function* read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (sent.length === 0)
          await new Promise<void>(resolve => {
            wake = resolve;
          });
        const next = sent.shift();
        if (next === undefined) return;
        if (next instanceof Error) throw next;
        yield next;
      }
    } finally {
      isReturned = true;
    }
  }
  return {
    body: new Body(read(), undefined, undefined),
    send(...chunks: (string | Error | undefined)[]) {
      sent.push(...chunks.map(it => (typeof it === 'string' ? Buffer.from(it) : it)));
      wake();
    },
    waiting: () => sent.length,
    isReturned: () => isReturned,
  };
}

async function readAll(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += Buffer.from(chunk).toString();
  return text;
}

const refuseError = (error: Error) => assert.fail(error);

describe('preread of request bodies', () => {
  test('a body that ends within the bound becomes bytes, a longer one a stream that begins with them', async () => {
    const preread = createPreread(4, 100);
    const short = createSource();
    short.send('ab', 'c', undefined);
    const complete = await preread.read(short.body);
    assert.deepEqual([short.body.bytes?.toString(), short.body.stream, preread.bufferedBytes], ['abc', undefined, 3]);
    complete.release(true);
    const long = createSource();
    long.send('ab', 'cd', 'ef', undefined);
    const partial = await preread.read(long.body);
    assert.equal(preread.bufferedBytes, 4);
    partial.release(true);
    assert.equal(preread.bufferedBytes, 0);
    assert.equal(await readAll(long.body.stream!), 'abcdef');
  });

  for (const isHeld of [false, true])
    test(`a queued request is read on, and sent with a read in progress${isHeld ? ', also without a preread' : ''}`, async () => {
      const preread = createPreread(2, 100);
      const source = createSource();
      source.send('ab');
      const partial = isHeld ? preread.hold(source.body) : await preread.read(source.body);
      partial.readWhileQueued(refuseError);
      source.send('cd', 'ef');
      await eventually(() => assert.equal(preread.bufferedBytes, 6));
      partial.release(true);
      assert.equal(preread.bufferedBytes, 0);
      const text = readAll(source.body.stream!);
      source.send('gh', undefined);
      assert.equal(await text, 'abcdefgh');
    });

  test('the end of a queued body is read once, and its request sent complete', async () => {
    const preread = createPreread(2, 100);
    const source = createSource();
    source.send('ab', 'cd', undefined);
    const partial = await preread.read(source.body);
    partial.readWhileQueued(refuseError);
    await eventually(() => assert.ok(partial.isComplete));
    partial.release(true);
    assert.equal(await readAll(source.body.stream!), 'abcd');
  });

  test('queued bodies are read up to half of the total, the rest waits', async () => {
    const preread = createPreread(2, 8);
    const source = createSource();
    source.send('ab', 'cd', 'ef', undefined);
    const partial = await preread.read(source.body);
    partial.readWhileQueued(refuseError);
    await eventually(() => assert.equal(preread.bufferedBytes, 4));
    assert.equal(source.waiting(), 2);
    partial.release(true);
    assert.equal(await readAll(source.body.stream!), 'abcdef');
  });

  test('an error while queued is reported, one after the request was sent goes to the reader of the body', async () => {
    const preread = createPreread(2, 100);
    const failing = createSource();
    failing.send('ab', 'cd', new Error('disconnected'));
    const queued = await preread.read(failing.body);
    const reported = await new Promise<Error>(resolve => queued.readWhileQueued(resolve));
    assert.equal(reported.message, 'disconnected');
    queued.release(false);
    assert.equal(preread.bufferedBytes, 0);
    const late = createSource();
    late.send('ab');
    const sent = await preread.read(late.body);
    sent.readWhileQueued(refuseError);
    sent.release(true);
    const text = readAll(late.body.stream!);
    late.send(new Error('disconnected'));
    await assert.rejects(text, /disconnected/);
  });

  test('an abandoned request returns its source', async () => {
    const preread = createPreread(2, 100);
    const source = createSource();
    source.send('ab');
    const partial = await preread.read(source.body);
    partial.release(false);
    await eventually(() => assert.ok(source.isReturned()));
    assert.equal(preread.bufferedBytes, 0);
  });
});
