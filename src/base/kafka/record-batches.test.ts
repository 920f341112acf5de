import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { decompressLz4 } from './lz4.ts';
import { decodeRecordBatches } from './record-batches.ts';
import { decompressSnappy } from './snappy.ts';
import { encode, KafkaError } from './wire.ts';

const maxBatchBytes = 1000;
const isFinal = (message: RegExp) => (error: unknown) =>
  error instanceof KafkaError && error.isFinal && message.test(error.message);

/** A batch with these bytes as its records. */
function toBatch(records: Buffer, { format = 2, attributes = 0, count = 1 } = {}): Buffer {
  const rest = Buffer.concat([
    ...[encode.int32(0), encode.int8(format), encode.int32(0), encode.int16(attributes), encode.int32(0)],
    ...[encode.int64(0n), encode.int64(0n), encode.int64(-1n), encode.int16(0), encode.int32(0)],
    ...[encode.int32(count), records],
  ]);
  return Buffer.concat([encode.int64(4n), encode.bytes(rest)]);
}
/** Length, attributes, three deltas and lengths, the value `hi`, no headers. */
const record = Buffer.from([16, 0, 0, 0, 1, 4, 0x68, 0x69, 0]);
const decode = (bytes: Buffer, from = 0n) => decodeRecordBatches(bytes, { from, aborted: [], maxBatchBytes });

describe('Kafka record batches', () => {
  test('a batch is decoded, and an incomplete one behind it is left for the next fetch', async () => {
    const batch = toBatch(record);
    const { messages, next } = await decode(Buffer.concat([batch, batch.subarray(0, 40)]));
    assert.deepEqual([messages.map(it => [it.offset, it.value?.toString()]), next], [[[4n, 'hi']], 5n]);
  });

  test('messages before the position of a reader are left out', async () => {
    assert.deepEqual(await decode(toBatch(record), 5n), { messages: [], next: 5n });
  });

  test('a batch that is longer than what was fetched is refused', async () => {
    await assert.rejects(decode(toBatch(record).subarray(0, 40)), isFinal(/larger than 1000 bytes/));
  });

  for (const [about, batch] of [
    ['an older message format', toBatch(record, { format: 1 })],
    ['an unknown codec', toBatch(record, { attributes: 5 })],
    ['more records than bytes', toBatch(record, { count: 2_000_000_000 })],
    ['a value beyond its record', toBatch(Buffer.from([16, 0, 0, 0, 1, 126, 0x68, 0x69, 0]))],
    ['a negative length', Buffer.concat([encode.int64(0n), encode.int32(-100), Buffer.alloc(80)])],
  ] as const)
    test(`${about} is an error`, () => assert.rejects(decode(batch), isFinal(/./)));

  const zeros = Buffer.alloc(1_000_000);
  /** Tag of a literal, one zero, then copies of 64 bytes. */
  const snappyBomb = Buffer.concat([
    Buffer.from([0xc0, 0x84, 0x3d, 0, 0]),
    Buffer.alloc(60, Buffer.from([0xfe, 1, 0])),
  ]);
  /** One literal, then a copy whose length is 255 for each byte. */
  const lz4Block = Buffer.concat([Buffer.from([0x1f, 0, 1, 0]), Buffer.alloc(500, 255), Buffer.from([0])]);
  const lz4Bomb = Buffer.concat([
    Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x40, 0x40, 0, lz4Block.length & 255, lz4Block.length >> 8, 0, 0]),
    lz4Block,
  ]);
  for (const [codec, bytes] of [
    [1, gzipSync(zeros)],
    [2, snappyBomb],
    [3, lz4Bomb],
    [4, zstdCompressSync(zeros)],
  ] as const)
    test(`records of codec ${codec} that are larger than the bound are refused`, () =>
      assert.rejects(decode(toBatch(bytes, { attributes: codec })), isFinal(/larger than 1000 bytes/)));

  test('mutated input of Snappy and LZ4 is decompressed within the bound, or refused', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
      return seed % below;
    };
    for (let run = 0; run < 20_000; run++) {
      const [decompress, head] = run % 2 ? [decompressSnappy, [200, 1]] : [decompressLz4, [...lz4Bomb.subarray(0, 11)]];
      const input = Buffer.from([...(head as number[]), ...Array.from({ length: random(60) }, () => random(256))]);
      try {
        assert.ok(decompress(input, maxBatchBytes).length <= maxBatchBytes);
      } catch (error) {
        assert.ok(error instanceof KafkaError, String(error));
      }
    }
  });
});
