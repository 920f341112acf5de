import { BodyBuffer } from '../../http/body-buffer.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';

/** An answer as it is kept in memory. */
export interface Kept {
  readonly status: number;
  /** `[name, value, …]` */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Bytes that several answers may take together. */
export interface Room {
  left: number;
}

/** Keeps an answer as long as there is room; whoever waits hears of it once, and of undefined when it cannot be had whole. */
export function memorySink(room: Room, done: (kept: Kept | undefined) => void): ResponseWriter {
  const gathered = new BodyBuffer();
  let status = 0;
  let headers: readonly string[] = [];
  let ended = false;

  function end(kept: Kept | undefined): void {
    if (ended) return;
    ended = true;
    done(kept);
  }

  function keep(chunk: Uint8Array): void {
    if (ended) return;
    room.left -= chunk.byteLength;
    if (room.left < 0) return end(undefined);
    // The bytes belong to the connection they came over, which may use them again.
    gathered.add(Buffer.from(chunk));
  }

  return {
    onDrain: undefined,
    writeHead(given, flat) {
      status = given;
      headers = [...flat];
    },
    write(chunk) {
      keep(chunk);
      return true;
    },
    end(chunk) {
      if (chunk) keep(chunk);
      end({ status, headers, body: gathered.bytes() });
    },
    abort: () => end(undefined),
  };
}
