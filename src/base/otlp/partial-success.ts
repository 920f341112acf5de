import type { OtlpProtocol } from './span.ts';

export interface RejectedItems {
  readonly count: number;
  readonly message: string;
}

const noRejection: RejectedItems = { count: 0, message: '' };
const maxMessageCharacters = 200;

/**
 * `partial_success` of an OTLP export response. The three signals share its shape: number of rejected items in field 1,
 * message in field 2. A body that is no such response counts as full success.
 */
export function readRejection(protocol: OtlpProtocol, body: Buffer): RejectedItems {
  if (body.length === 0) return noRejection;
  return protocol === 'json' ? readJson(body) : readProtobuf(body);
}

function readJson(body: Buffer): RejectedItems {
  let partial: Record<string, unknown> | undefined;
  try {
    partial = JSON.parse(body.toString())?.partialSuccess;
  } catch {
    // A collector behind a proxy may respond with text.
    return noRejection;
  }
  if (typeof partial !== 'object' || partial === null) return noRejection;
  const count = Number(partial.rejectedSpans ?? partial.rejectedDataPoints ?? 0);
  const message = typeof partial.errorMessage === 'string' ? partial.errorMessage : '';
  return toRejection(count, message);
}

function readProtobuf(body: Buffer): RejectedItems {
  const partial = findField(body, 1);
  if (!Buffer.isBuffer(partial)) return noRejection;
  const count = findField(partial, 1);
  const message = findField(partial, 2);
  return toRejection(typeof count === 'number' ? count : 0, Buffer.isBuffer(message) ? message.toString() : '');
}

const toRejection = (count: number, message: string): RejectedItems => ({
  count: Number.isSafeInteger(count) && count > 0 ? count : 0,
  message: message.slice(0, maxMessageCharacters),
});

/** First varint or length-delimited field with this number; undefined at the first byte that is neither. */
function findField(bytes: Buffer, wanted: number): number | Buffer | undefined {
  let at = 0;
  const readVarint = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 0x80) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = readVarint();
    const type = tag % 8;
    if (type !== 0 && type !== 2) return undefined;
    let value: number | Buffer = readVarint();
    if (type === 2) {
      const end = at + value;
      value = bytes.subarray(at, end);
      at = end;
    }
    if (Math.floor(tag / 8) === wanted) return value;
  }
  return undefined;
}
