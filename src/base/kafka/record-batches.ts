import { promisify } from 'node:util';
import { gunzip, zstdDecompress } from 'node:zlib';
import { decompressLz4 } from './lz4.ts';
import { decompressSnappy } from './snappy.ts';
import { KafkaError, KafkaReader } from './wire.ts';

export interface KafkaMessage {
  readonly offset: bigint;
  /** Undefined for a tombstone, which deletes its key. */
  readonly value: Buffer | undefined;
}

/** A transaction that was rolled back: its messages stay in the log. */
export interface AbortedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
}

export interface DecodeOptions {
  /** The first offset that is wanted; a batch may begin before it. */
  readonly from: bigint;
  readonly aborted: readonly AbortedTransaction[];
  /** Of the records of a batch, after decompression. */
  readonly maxBatchBytes: number;
}

export interface DecodedRecords {
  readonly messages: readonly KafkaMessage[];
  /** Position after the last complete batch. */
  readonly next: bigint;
}

const lengthBytes = 12;
const isControl = 0x20;
const isTransactional = 0x10;

/** Decodes record batches (message format 2). The last may be incomplete, because a fetch ends at a number of bytes. */
export async function decodeRecordBatches(records: Buffer, options: DecodeOptions): Promise<DecodedRecords> {
  const messages: KafkaMessage[] = [];
  const aborted = createAbortFilter(options.aborted);
  let { from: next } = options;
  let at = 0;
  while (at + lengthBytes <= records.length) {
    const size = lengthBytes + records.readInt32BE(at + 8);
    if (size < lengthBytes) throw new KafkaError('a batch of messages is malformed', true);
    if (at + size > records.length) break;
    const batch = readBatch(records.subarray(at, at + size));
    at += size;
    if (batch.lastOffset + 1n > next) next = batch.lastOffset + 1n;
    if (aborted.isHidden(batch)) continue;
    const bytes = await decompress(batch.records, batch.attributes & 7, options.maxBatchBytes);
    for (const message of readRecords(bytes, batch)) if (message.offset >= options.from) messages.push(message);
  }
  if (at === 0 && records.length > 0)
    throw new KafkaError(`a batch of messages is larger than ${options.maxBatchBytes} bytes`, true);
  return { messages, next };
}

interface RecordBatch {
  readonly baseOffset: bigint;
  readonly lastOffset: bigint;
  readonly attributes: number;
  readonly producerId: bigint;
  readonly count: number;
  readonly records: Buffer;
}

function readBatch(bytes: Buffer): RecordBatch {
  const reader = new KafkaReader(bytes);
  const baseOffset = reader.int64();
  reader.take(8);
  const format = reader.int8();
  if (format !== 2) throw new KafkaError(`messages of format ${format} are not supported`, true);
  reader.take(4);
  const attributes = reader.int16();
  const lastOffset = baseOffset + BigInt(reader.int32());
  reader.take(16);
  const producerId = reader.int64();
  reader.take(6);
  const count = reader.int32();
  return { baseOffset, lastOffset, attributes, producerId, count, records: reader.take(reader.remaining) };
}

/** Batches that no client may see: markers of transactions, and messages of those that were rolled back. */
function createAbortFilter(transactions: readonly AbortedTransaction[]) {
  const waiting = transactions.toSorted((a, b) => Number(a.firstOffset - b.firstOffset));
  const active = new Set<bigint>();
  return {
    isHidden({ attributes, lastOffset, producerId }: RecordBatch): boolean {
      while (waiting.length > 0 && waiting[0]!.firstOffset <= lastOffset) active.add(waiting.shift()!.producerId);
      if ((attributes & isControl) !== 0) {
        // A marker ends the transaction of its producer, whether it was committed or not.
        active.delete(producerId);
        return true;
      }
      return (attributes & isTransactional) !== 0 && active.has(producerId);
    },
  };
}

function* readRecords(bytes: Buffer, { baseOffset, count }: RecordBatch): Generator<KafkaMessage> {
  const reader = new KafkaReader(bytes);
  for (let index = 0; index < count; index++) {
    const record = new KafkaReader(reader.take(reader.varint()));
    record.take(1);
    record.varlong();
    const offset = baseOffset + BigInt(record.varint());
    const keyBytes = record.varint();
    if (keyBytes > 0) record.take(keyBytes);
    const valueBytes = record.varint();
    yield { offset, value: valueBytes < 0 ? undefined : record.take(valueBytes) };
  }
}

const unzip = promisify(gunzip);
const unzstd = promisify(zstdDecompress);

async function decompress(bytes: Buffer, codec: number, maxBytes: number): Promise<Buffer> {
  if (codec === 0) return bytes;
  if (codec === 2) return decompressSnappy(bytes, maxBytes);
  if (codec === 3) return decompressLz4(bytes, maxBytes);
  if (codec !== 1 && codec !== 4) throw new KafkaError(`messages are compressed with the unknown codec ${codec}`, true);
  try {
    return await (codec === 1 ? unzip : unzstd)(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new KafkaError(`compressed messages are larger than ${maxBytes} bytes`, true);
    throw new KafkaError('compressed messages are malformed', true);
  }
}
