import type { Duplex } from 'node:stream';
import type { ParsedFields } from '../http/http1/parsed-fields.ts';
import type { Exchange } from './exchange.ts';

/** Writes one response to the client; one implementation per protocol. */
export interface ResponseWriter {
  /**
   * Headers are a flat list; `parsed`: the head they come from, where it is one of HTTP/1.1. `isHeld`: the head waits for
   * the body, whose first bytes, end or `flush` follow in this tick. Called once, first.
   */
  writeHead(status: number, headers: string[], parsed?: ParsedFields, isHeld?: boolean): void;
  /** Sends a held head. Absent where heads are not held. */
  flush?(): void;
  /** `write` and `end` copy the chunks that are shared. Without it none may be. */
  readonly takesShared?: boolean | undefined;
  /** False: wait for `onDrain` before the next write. `isShared`: the chunk is overwritten after the call. */
  write(chunk: Uint8Array, isShared?: boolean): boolean;
  /** Ends the response, with a last chunk and trailers (a flat list) if there are any. */
  end(chunk?: Uint8Array, trailers?: readonly string[], isShared?: boolean): void;
  /** Truncates the response by closing the connection, so that the client detects it. */
  abort(): void;
  onDrain: (() => void) | undefined;
  /**
   * Switches protocols (101) and returns the connection; only for upgrade requests. `onServerClose` is called at
   * shutdown: the owner of the connection then ends it.
   */
  switchProtocol?(headers: string[], onServerClose?: () => void): Duplex;
}

/** Writer of a response that no client waits for. */
export const createDiscardingWriter = (): ResponseWriter => ({
  writeHead: () => undefined,
  takesShared: true,
  write: () => true,
  end: () => undefined,
  abort: () => undefined,
  onDrain: undefined,
});

/** Rejects interim statuses: after one the client takes the next response on its connection for this one. */
export function assertFinalStatus(status: number): void {
  if (status < 200) throw new RangeError(`${status} is not a response status`);
}

/** Handles requests of every transport. Never throws or rejects. */
export interface RequestHandler {
  handle(call: Exchange, writer: ResponseWriter): void;
}
