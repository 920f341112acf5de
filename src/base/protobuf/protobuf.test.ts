import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ProtobufError, ProtobufReader } from './protobuf-reader.ts';
import { ProtobufWriter } from './protobuf-writer.ts';

const write = (fill: (writer: ProtobufWriter) => void): Buffer => {
  const writer = new ProtobufWriter(16);
  fill(writer);
  return Buffer.from(writer.drain());
};

describe('Protocol Buffers', () => {
  test('signed integers, doubles, texts and bytes are read as they were written', () => {
    fc.assert(
      fc.property(
        fc.maxSafeInteger(),
        fc.double({ noNaN: true }),
        fc.string({ unit: 'grapheme' }),
        fc.uint8Array(),
        (integer, double, text, bytes) => {
          const reader = new ProtobufReader(
            write(writer => {
              writer.writeSigned(1, integer);
              writer.writeDouble(2000, double);
              const nested = writer.beginMessage(3);
              writer.writeString(1, text);
              writer.writeBytes(2, bytes);
              writer.endMessage(nested);
            }),
          );
          assert.equal(reader.readField(), 1);
          assert.equal(reader.readSigned(), integer);
          assert.equal(reader.readField(), 2000);
          assert.equal(reader.readDouble(), double);
          assert.equal(reader.readField(), 3);
          const nested = reader.readMessage();
          assert.equal(nested.readField(), 1);
          assert.equal(nested.readString(), text);
          assert.equal(nested.readField(), 2);
          assert.deepEqual([...nested.readBytes()], [...bytes]);
          assert.deepEqual([nested.readField(), reader.readField()], [0, 0]);
        },
      ),
    );
  });

  test('a negative integer has ten bytes, as other implementations write it', () => {
    assert.equal(write(writer => writer.writeSigned(1, -1)).toString('hex'), '08ffffffffffffffffff01');
    assert.equal(write(writer => writer.writeSigned(1, -300)).toString('hex'), '08d4fdffffffffffffff01');
  });

  test('doubles are read packed and one by one', () => {
    const packed = write(writer => writer.writePackedDouble(1, [1.5, -2]));
    const single = write(writer => {
      writer.writeDouble(1, 1.5);
      writer.writeDouble(1, -2);
    });
    for (const bytes of [packed, single]) {
      const reader = new ProtobufReader(bytes);
      const values: number[] = [];
      while (reader.readField() !== 0) reader.readDoubles(values);
      assert.deepEqual(values, [1.5, -2]);
    }
  });

  test('bytes that are no message are refused, and unknown fields skipped', () => {
    const readAll = (bytes: Buffer) => {
      const reader = new ProtobufReader(bytes);
      for (let field = reader.readField(); field !== 0; field = reader.readField())
        if (field === 1) reader.readString();
        else if (field === 2) reader.readSigned();
        else if (field === 3) reader.readDoubles([]);
        else reader.skip();
    };
    const invalid = ['0a05', '0a02c328', '00', '0d', '0b', '1201', '10ffffffffffffffffffff01', '10808080808080808001'];
    for (const hex of [...invalid, '1a0100', '29', '2a05', '33', '7d00'])
      assert.throws(() => readAll(Buffer.from(hex, 'hex')), ProtobufError, hex);
    readAll(Buffer.from('2801290000000000000000320100', 'hex').subarray(0, 11));
    readAll(Buffer.from('2801290000000000000000320100bd0100000000', 'hex'));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), bytes => {
        try {
          readAll(Buffer.from(bytes));
        } catch (error) {
          assert.ok(error instanceof ProtobufError, String(error));
        }
      }),
    );
  });
});
