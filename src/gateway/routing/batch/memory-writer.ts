import { BodyBuffer } from '../../http/body-buffer.ts';
import type { ResponseWriter } from '../../pipeline/response-writer.ts';

/** A response buffered in memory. */
export interface BufferedResponse {
  readonly status: number;
  /** `[name, value, …]` */
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** Byte budget shared by the responses of one batch. */
export interface ByteBudget {
  remaining: number;
}

/**
 * Response writer into memory, within a byte budget. Calls back once: with the response, or undefined when it was
 * aborted or too large.
 */
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
    // Copied: the connection reuses its buffer.
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
