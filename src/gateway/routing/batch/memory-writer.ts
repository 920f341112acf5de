import { BodyBuffer } from '../../http/body-buffer.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';

/** An answer as it is kept in memory. */
export interface BufferedResponse {
  readonly status: number;
  /** `[name, value, …]` */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Bytes that several answers may take together. */
export interface ByteBudget {
  remaining: number;
}

/** Keeps an answer as long as there is room; whoever waits hears of it once, and of undefined when it cannot be had whole. */
export function createMemoryWriter(
  budget: ByteBudget,
  onResponse: (kept: BufferedResponse | undefined) => void,
): ResponseWriter {
  const buffer = new BodyBuffer();
  let status = 0;
  let headers: readonly string[] = [];
  let ended = false;

  function settle(kept: BufferedResponse | undefined): void {
    if (ended) return;
    ended = true;
    onResponse(kept);
  }

  function append(chunk: Uint8Array): void {
    if (ended) return;
    budget.remaining -= chunk.byteLength;
    if (budget.remaining < 0) return settle(undefined);
    // The bytes belong to the connection they came over, which may use them again.
    buffer.add(Buffer.from(chunk));
  }

  return {
    onDrain: undefined,
    writeHead(given, flat) {
      status = given;
      headers = [...flat];
    },
    write(chunk) {
      append(chunk);
      return true;
    },
    end(chunk) {
      if (chunk) append(chunk);
      settle({ status, headers, body: buffer.bytes() });
    },
    abort: () => settle(undefined),
  };
}
