/** Where an answer goes. The engine writes to it; each transport has one. */
export interface Sink {
  /** Headers as a flat list. Called once, before anything else. */
  start(status: number, headers: string[]): void;
  /** False: wait for `onDrain` before writing more. */
  write(chunk: Uint8Array): boolean;
  /** The end, with the last bytes when there are some left. */
  finish(chunk?: Uint8Array): void;
  /** The answer cannot be completed: breaks the connection, so that the caller knows. */
  abort(): void;
  onDrain: (() => void) | undefined;
}

/** What a transport hands calls to. It never throws and never rejects. */
export interface Handler {
  handle(call: import('../exchange.ts').Exchange, sink: Sink): void;
}
