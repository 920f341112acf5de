import type { Duplex } from 'node:stream';
import { every } from '#base/repeat.ts';

export interface KeepAliveOptions {
  /** 0 for none. */
  readonly intervalMs: number;
  ping(): void;
}

/**
 * Keep-alive of a WebSocket: Ping frames (RFC 6455, 5.5.2), and the end of a connection whose other end sent nothing for
 * one interval: it was lost without a FIN, or does not read. Returns the function that stops it.
 */
export function keepAlive(stream: Duplex, { intervalMs, ping }: KeepAliveOptions): () => void {
  if (intervalMs === 0) return () => undefined;
  let hasReceived = true;
  stream.on('data', () => {
    hasReceived = true;
  });
  const check = () => {
    // While backpressure holds the stream, what the other end sends is not read.
    if (!hasReceived && !stream.isPaused()) return void stream.destroy();
    hasReceived = false;
    ping();
  };
  const loop = every(intervalMs, check, { onError: error => stream.destroy(error), unref: true });
  return () => void loop.stop();
}
