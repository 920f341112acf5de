import { copyWithin } from './snappy.ts';
import { KafkaError } from './wire.ts';

const frameMagic = 0x184d2204;
/** Of a block at most, by the LZ4 frame format. */
const maxBlockBytes = 4_194_304;

const refuse = (): never => {
  throw new KafkaError('compressed messages are malformed', true);
};

/** Decompresses an LZ4 frame to at most `maxBytes`; blocks may refer to earlier ones. */
export function decompressLz4(input: Buffer, maxBytes: number): Buffer {
  if (input.length < 7 || input.readUInt32LE(0) !== frameMagic) refuse();
  const flags = input[4]!;
  let from = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const output = { bytes: Buffer.alloc(Math.min(maxBytes, 65_536)), length: 0, maxBytes };
  for (;;) {
    if (from + 4 > input.length) refuse();
    const head = input.readUInt32LE(from);
    from += 4;
    if (head === 0) return output.bytes.subarray(0, output.length);
    const size = head & 0x7fffffff;
    if (size > maxBlockBytes || from + size > input.length) refuse();
    const block = input.subarray(from, from + size);
    if (head >>> 31 === 1) append(output, block);
    else decompressBlock(block, output);
    from += size + (flags & 0x10 ? 4 : 0);
  }
}

interface GrowingOutput {
  bytes: Buffer;
  length: number;
  readonly maxBytes: number;
}

function reserve(output: GrowingOutput, length: number): void {
  const needed = output.length + length;
  if (needed > output.maxBytes)
    throw new KafkaError(`compressed messages are larger than ${output.maxBytes} bytes`, true);
  if (needed <= output.bytes.length) return;
  const grown = Buffer.alloc(Math.min(output.maxBytes, Math.max(needed, output.bytes.length * 2)));
  output.bytes.copy(grown, 0, 0, output.length);
  output.bytes = grown;
}

function append(output: GrowingOutput, bytes: Buffer): void {
  reserve(output, bytes.length);
  bytes.copy(output.bytes, output.length);
  output.length += bytes.length;
}

/** LZ4 block: sequences of literals and a copy of earlier output; the last has literals alone. */
function decompressBlock(block: Buffer, output: GrowingOutput): void {
  let from = 0;
  const readLength = (first: number): number => {
    let length = first;
    if (first !== 15) return length;
    for (;;) {
      const byte = block[from++] ?? refuse();
      length += byte;
      if (byte !== 255) return length;
    }
  };
  while (from < block.length) {
    const token = block[from++]!;
    const literals = readLength(token >> 4);
    if (from + literals > block.length) refuse();
    append(output, block.subarray(from, from + literals));
    from += literals;
    if (from === block.length) return;
    if (from + 2 > block.length) refuse();
    const offset = block.readUInt16LE(from);
    from += 2;
    const length = readLength(token & 15) + 4;
    reserve(output, length);
    output.length = copyWithin(output.bytes, output.length, offset, length);
  }
}
