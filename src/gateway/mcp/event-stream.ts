import type { StreamTransform } from '../pipeline/exchange.ts';

type ChangeData = (data: string) => string | Error;

const [lineFeed, carriageReturn] = [10, 13];

/**
 * Changes the data of server-sent events (HTML standard, section 9.2) event by event: each is written as soon as its
 * blank line has arrived. An event whose data stays the same is written as it came. An error in place of the data
 * aborts the response.
 */
export function createEventTransform(change: ChangeData, maxEventBytes: number): StreamTransform {
  let pending: Buffer = Buffer.alloc(0);
  /** Memory that begins with `pending`; it grows by doubling, so that small chunks are not copied again and again. */
  let storage = pending;
  /** Offset in `pending` up to which no end of an event was found. */
  let searched = 0;
  return {
    write(chunk) {
      const bytes = pending.length + chunk.length;
      if (bytes > storage.length) {
        storage = Buffer.allocUnsafe(2 * bytes);
        storage.set(pending);
      }
      storage.set(chunk, pending.length);
      pending = storage.subarray(0, bytes);
      const written: Buffer[] = [];
      for (let end = findEventEnd(pending, searched); end > 0; end = findEventEnd(pending, 0)) {
        const changed = changeEvent(pending.subarray(0, end), change);
        if (changed instanceof Error) return changed;
        written.push(changed);
        pending = pending.subarray(end);
        storage = storage.subarray(end);
        searched = 0;
      }
      if (pending.length > maxEventBytes) return new Error(`an event exceeds ${maxEventBytes} bytes`);
      // A blank line may be split between chunks: its parts are at most the last three bytes.
      searched = Math.max(0, pending.length - 3);
      return written.length === 0 ? undefined : Buffer.concat(written);
    },
    end() {
      const rest = pending.length === 0 ? undefined : changeEvent(pending, change);
      return rest instanceof Error ? undefined : rest;
    },
  };
}

/** Offset behind the first blank line; 0 without one. A CR at the end waits for its LF. */
function findEventEnd(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length) {
    const next = skipLineEnd(bytes, at);
    if (next === at) at++;
    else {
      if (next < 0 || next >= bytes.length) return 0;
      const end = skipLineEnd(bytes, next);
      if (end < 0) return 0;
      if (end > next) return end;
      at = next;
    }
  }
  return 0;
}

/** Offset behind a line end; `at` itself where there is none; -1 where the next byte decides. */
function skipLineEnd(bytes: Buffer, at: number): number {
  if (bytes[at] === lineFeed) return at + 1;
  if (bytes[at] !== carriageReturn) return at;
  if (at + 1 >= bytes.length) return -1;
  return bytes[at + 1] === lineFeed ? at + 2 : at + 1;
}

function changeEvent(bytes: Buffer, change: ChangeData): Buffer | Error {
  const lines = bytes.toString('utf8').split(/\r\n|\n|\r/);
  const isData = (line: string) => line === 'data' || line.startsWith('data:') || line.startsWith('\ufeffdata:');
  const data = lines.filter(isData).map(line => line.replace(/^\ufeff?data:? ?/, ''));
  if (data.length === 0) return bytes;
  const text = data.join('\n');
  const changed = change(text);
  if (changed instanceof Error) return changed;
  if (changed === text) return bytes;
  const others = lines.filter(line => line !== '' && !isData(line));
  return Buffer.from([...others, ...changed.split('\n').map(line => `data: ${line}`), '', ''].join('\n'));
}
