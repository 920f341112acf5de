import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { FrameTracker, toCloseFrame } from './websocket-frames.ts';

/** "Going away" (RFC 6455, 7.4.1). */
const goingAwayCode = 1001;

export interface RelayOptions {
  /** Timeout of the closing handshake; the connections are then destroyed. */
  readonly closeTimeoutMs: number;
  readonly onEnd: () => void;
}

export interface WebSocketRelay {
  /** Closes both ends with 1001: after the current frame, and once each has replied with a Close frame. */
  goAway(): void;
}

/** WebSocket relay: copies both ways with backpressure; the end of one side ends the other. */
export function relayWebSocket(client: Duplex, upstream: Socket, options: RelayOptions): WebSocketRelay {
  let timer: NodeJS.Timeout | undefined;
  let open = 2;
  const toUpstream = new Direction(client, upstream, true);
  const toClient = new Direction(upstream, client, false);
  const onClosed = () => {
    open--;
    if (timer === undefined || open === 0) {
      client.destroy();
      upstream.destroy();
    }
    if (open > 0) return;
    clearTimeout(timer);
    options.onEnd();
  };
  client.once('close', onClosed);
  upstream.once('close', onClosed);
  /** Ends a socket when its closing handshake is complete: a Close frame went each way. */
  const settle = () => {
    if (toClient.isClosed && toUpstream.isAnswered) endSocket(client);
    if (toUpstream.isClosed && toClient.isAnswered) endSocket(upstream);
  };
  return {
    goAway() {
      if (timer !== undefined || open < 2) return;
      timer = setTimeout(() => {
        client.destroy();
        upstream.destroy();
      }, options.closeTimeoutMs);
      toUpstream.close(settle);
      toClient.close(settle);
    },
  };
}

function endSocket(socket: Duplex): void {
  if (socket.destroyed || socket.writableEnded) return;
  socket.end(() => socket.destroy());
}

/** One direction: `open` copies, `ending` copies to the end of the current frame, `closed` discards. */
class Direction {
  readonly #source: Duplex;
  readonly #destination: Duplex;
  readonly #isToServer: boolean;
  readonly #frames = new FrameTracker();
  #state: 'open' | 'ending' | 'closed' = 'open';
  #onChange: (() => void) | undefined;

  constructor(source: Duplex, destination: Duplex, isToServer: boolean) {
    this.#source = source;
    this.#destination = destination;
    this.#isToServer = isToServer;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => destination.end());
    destination.on('drain', () => source.resume());
  }

  /** The destination has its Close frame. */
  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** The source has sent a whole Close frame. */
  get isAnswered(): boolean {
    return this.#frames.hasClose && this.#frames.isBetweenFrames;
  }

  close(onChange: () => void): void {
    this.#onChange = onChange;
    this.#state = 'ending';
    this.#closeBetweenFrames();
  }

  #take(chunk: Buffer): void {
    if (this.#state === 'open') {
      this.#frames.take(chunk);
      if (!this.#destination.write(chunk)) this.#source.pause();
      return;
    }
    let offset = 0;
    if (this.#state === 'ending') {
      offset = this.#frames.take(chunk, true);
      this.#destination.write(chunk.subarray(0, offset));
      this.#closeBetweenFrames();
    }
    this.#frames.take(chunk.subarray(offset));
    this.#onChange?.();
  }

  #closeBetweenFrames(): void {
    if (!this.#frames.isBetweenFrames) return;
    this.#state = 'closed';
    if (!this.#frames.hasClose && !this.#destination.destroyed)
      this.#destination.write(toCloseFrame(goingAwayCode, this.#isToServer));
    this.#source.resume();
    this.#onChange?.();
  }
}
