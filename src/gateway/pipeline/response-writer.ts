import type { Duplex } from 'node:stream';
import type { Exchange } from './exchange.ts';

/** Where an answer goes. The engine writes to it; each transport has one. */
export interface ResponseWriter {
  /** Headers as a flat list. Called once, before anything else. */
  writeHead(status: number, headers: string[]): void;
  /** False: wait for `onDrain` before writing more. */
  write(chunk: Uint8Array): boolean;
  /** The end, with the last bytes when there are some left, and headers that come after the body as a flat list. */
  end(chunk?: Uint8Array, trailers?: readonly string[]): void;
  /** The answer cannot be completed: breaks the connection, so that the caller knows. */
  abort(): void;
  onDrain: (() => void) | undefined;
  /**
   * Instead of an answer: says that the other protocol may begin, and gives the connection away. Only where the call
   * asked for one. `goAway` is called when the transport closes: who has the connection ends it then.
   */
  switchProtocol?(headers: string[], onServerClose?: () => void): Duplex;
}

/** After anything below 200 the caller waits on, and takes the next answer on its connection for this one. */
export function assertFinalStatus(status: number): void {
  if (status < 200) throw new RangeError(`${status} is not the status of an answer`);
}

/** What a transport hands calls to. It never throws and never rejects. */
export interface RequestHandler {
  handle(call: Exchange, writer: ResponseWriter): void;
}
