import { KafkaError, KafkaReader } from './wire.ts';

/** Framing of the Java client around blocks; other clients send one block. */
const framing = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const framingHeadBytes = 16;

/** Decompresses Snappy, framed or not, to at most `maxBytes`. */
export function decompressSnappy(input: Buffer, maxBytes: number): Buffer {
  if (!input.subarray(0, framing.length).equals(framing)) return decompressBlock(input, maxBytes);
  const reader = new KafkaReader(input.subarray(framingHeadBytes));
  const blocks: Buffer[] = [];
  let left = maxBytes;
  while (reader.remaining > 0) {
    const block = decompressBlock(reader.bytes() ?? Buffer.alloc(0), left);
    left -= block.length;
    blocks.push(block);
  }
  return Buffer.concat(blocks);
}

const refuse = (): never => {
  throw new KafkaError('compressed messages are malformed', true);
};

/** Snappy block: its length, then literals and copies of earlier output. */
function decompressBlock(input: Buffer, maxBytes: number): Buffer {
  const head = readLength(input);
  if (head.length > maxBytes) throw new KafkaError(`compressed messages are larger than ${maxBytes} bytes`, true);
  const output = Buffer.alloc(head.length);
  let from = head.end;
  let to = 0;
  while (from < input.length) {
    const tag = input[from++]!;
    const kind = tag & 3;
    if (kind === 0) {
      const extra = Math.max(0, (tag >> 2) - 59);
      const length = 1 + (extra === 0 ? tag >> 2 : readTail(input, from, extra));
      from += extra;
      if (from + length > input.length || to + length > output.length) refuse();
      input.copy(output, to, from, from + length);
      from += length;
      to += length;
      continue;
    }
    const length = kind === 1 ? 4 + ((tag >> 2) & 7) : 1 + (tag >> 2);
    const size = kind === 1 ? 1 : kind === 2 ? 2 : 4;
    const offset = readTail(input, from, size) + (kind === 1 ? (tag >> 5) << 8 : 0);
    from += size;
    to = copyWithin(output, to, offset, length);
  }
  return to === output.length ? output : refuse();
}

/** Copies byte by byte: source and target may overlap. The new end of the output. */
export function copyWithin(output: Buffer, to: number, offset: number, length: number): number {
  if (offset === 0 || offset > to || to + length > output.length) refuse();
  for (let at = to; at < to + length; at++) output[at] = output[at - offset]!;
  return to + length;
}

const readTail = (input: Buffer, at: number, size: number): number =>
  at + size > input.length ? refuse() : input.readUIntLE(at, size);

function readLength(input: Buffer): { length: number; end: number } {
  let length = 0;
  for (let at = 0; at < 5 && at < input.length; at++) {
    length += (input[at]! & 0x7f) * 2 ** (7 * at);
    if (input[at]! < 0x80) return { length, end: at + 1 };
  }
  return refuse();
}
