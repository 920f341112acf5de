import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { MessageCheck } from '../pipeline/exchange.ts';
import { goingAwayCode, internalErrorCode, pingOpcode, policyViolationCode } from './websocket-codes.ts';
import { FrameTracker, toCloseFrame, toFrame } from './websocket-frames.ts';
import { keepAlive } from './websocket-liveness.ts';
import { MessageObserver } from './websocket-message-observer.ts';
import { type GateOutput, MessageGate, toTextFrame } from './websocket-messages.ts';

/** Replies of the gateway that wait for the client. */
const maxReplyBytes = 1_048_576;
const pingFrame = toFrame(pingOpcode, Buffer.alloc(0), false);
const nothing: GateOutput = { forward: [], closeCode: undefined, isWaiting: false };

export interface RelayOptions {
  /** Timeout of the closing handshake; the connections are then destroyed. */
  readonly closeTimeoutMs: number;
  readonly messageCheck?: MessageCheck | undefined;
  /** The check of a message threw; the connection is closed. */
  readonly onMessageError?: (error: unknown) => void;
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
  const toClient = new Direction(upstream, client, false);
  const { messageCheck } = options;
  const reply = (text: string) => {
    if (client.writableLength > maxReplyBytes) close(policyViolationCode);
    else toClient.insert(toTextFrame(text));
  };
  const release = (output: GateOutput) => toUpstream.release(output);
  const gate = messageCheck && createGate(messageCheck, options, { reply, release, close });
  const toUpstream = new Direction(client, upstream, true, gate);

  const observe = messageCheck?.onUpstreamMessage && new MessageObserver(messageCheck.onUpstreamMessage);
  if (observe) upstream.on('data', (chunk: Buffer) => observe.take(chunk));
  const stopPings = keepAlive(client, {
    intervalMs: messageCheck?.pingIntervalMs ?? 0,
    ping: () => toClient.insert(pingFrame),
  });
  let stopWatching: (() => void) | undefined;
  const onClosed = () => {
    open--;
    if (timer === undefined || open === 0) {
      client.destroy();
      upstream.destroy();
    }
    if (open > 0) return;
    clearTimeout(timer);
    stopPings();
    stopWatching?.();
    options.onEnd();
  };
  client.once('close', onClosed);
  upstream.once('close', onClosed);
  /** Ends a socket when its closing handshake is complete: a Close frame went each way. */
  const settle = () => {
    if (toClient.isClosed && toUpstream.isAnswered) endSocket(client);
    if (toUpstream.isClosed && toClient.isAnswered) endSocket(upstream);
  };
  function close(code: number): void {
    if (timer !== undefined || open < 2) return;
    timer = setTimeout(() => {
      client.destroy();
      upstream.destroy();
    }, options.closeTimeoutMs);
    toUpstream.close(code, settle);
    toClient.close(code, settle);
  }
  stopWatching = messageCheck?.onOpen?.(close);
  return { goAway: () => close(goingAwayCode) };
}

interface GateOutlets {
  /** Sends a message to the client. */
  reply(text: string): void;
  /** Forwards what a decision allowed that was waited for. */
  release(output: GateOutput): void;
  close(code: number): void;
}

/** Gate of client messages where they are checked: replies go to the client between frames of the upstream. */
function createGate(
  { maxMessageBytes, check }: MessageCheck,
  { onMessageError }: RelayOptions,
  { reply, release, close }: GateOutlets,
): (chunk: Buffer) => GateOutput {
  /** After the frames that precede the cause were written. */
  const closeBehind = ({ closeCode }: GateOutput) => {
    if (closeCode !== undefined) setImmediate(close, closeCode);
  };
  const onError = (error: unknown) => {
    onMessageError?.(error);
    setImmediate(close, internalErrorCode);
  };
  const gate = new MessageGate({
    maxMessageBytes,
    check: text => check(text, reply),
    onDecided(output) {
      release(output);
      closeBehind(output);
    },
    onError,
  });
  return chunk => {
    try {
      const output = gate.take(chunk);
      closeBehind(output);
      return output;
    } catch (error) {
      // An error in a listener would end the thread with all its connections.
      onError(error);
      return nothing;
    }
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
  /** Frames to forward of a chunk; undefined where it passes unread. */
  readonly #gate: ((chunk: Buffer) => GateOutput) | undefined;
  /** The gate waits for a decision: the source is not read. */
  #isHeld = false;
  readonly #frames = new FrameTracker();
  #state: 'open' | 'ending' | 'closed' = 'open';
  #closeCode = goingAwayCode;
  #onChange: (() => void) | undefined;
  /** Frames of the gateway that wait for the end of the current frame. */
  #inserted: Buffer[] = [];
  #insertedBytes = 0;

  constructor(source: Duplex, destination: Duplex, isToServer: boolean, gate?: (chunk: Buffer) => GateOutput) {
    this.#source = source;
    this.#destination = destination;
    this.#isToServer = isToServer;
    this.#gate = gate;
    source.on('data', (chunk: Buffer) => this.#take(chunk));
    source.once('end', () => destination.end());
    destination.on('drain', () => void (this.#isHeld || source.resume()));
  }

  /** The destination has its Close frame. */
  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** The source has sent a whole Close frame. */
  get isAnswered(): boolean {
    return this.#frames.hasClose && this.#frames.isBetweenFrames;
  }

  close(code: number, onChange: () => void): void {
    this.#closeCode = code;
    this.#onChange = onChange;
    this.#state = 'ending';
    this.#closeBetweenFrames();
  }

  /** Writes a frame of the gateway between two frames of the source. */
  insert(frame: Buffer): void {
    if (this.#state !== 'open' || this.#insertedBytes > maxReplyBytes) return;
    this.#inserted.push(frame);
    this.#insertedBytes += frame.length;
    this.#writeInserted();
  }

  #writeInserted(): void {
    if (!this.#frames.isBetweenFrames || this.#frames.hasClose) return;
    for (const frame of this.#inserted) this.#destination.write(frame);
    this.#inserted = [];
    this.#insertedBytes = 0;
  }

  #take(chunk: Buffer): void {
    if (this.#state === 'open') return this.#copy(chunk);
    if (this.#gate) {
      this.#frames.take(chunk);
      this.#onChange?.();
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

  #copy(chunk: Buffer): void {
    let rest = chunk;
    if (this.#inserted.length > 0) {
      const end = this.#frames.take(chunk, true);
      this.#destination.write(chunk.subarray(0, end));
      this.#writeInserted();
      rest = chunk.subarray(end);
    }
    this.#frames.take(rest);
    if (this.#gate) return this.#forward(this.#gate(rest));
    if (!this.#destination.write(rest)) this.#source.pause();
  }

  #forward({ forward, isWaiting }: GateOutput): void {
    let isWritable = true;
    for (const bytes of forward) isWritable = this.#destination.write(bytes);
    this.#isHeld = isWaiting;
    if (isWaiting || !isWritable) this.#source.pause();
  }

  /** Continues after a decision that the gate waited for. */
  release(output: GateOutput): void {
    if (this.#state !== 'open' || this.#destination.destroyed) return;
    this.#forward(output);
    if (!this.#isHeld && !this.#destination.writableNeedDrain) this.#source.resume();
  }

  #closeBetweenFrames(): void {
    // A gate forwards whole frames only.
    if (!this.#gate && !this.#frames.isBetweenFrames) return;
    this.#state = 'closed';
    if (!this.#frames.hasClose && !this.#destination.destroyed)
      this.#destination.write(toCloseFrame(this.#closeCode, this.#isToServer));
    this.#source.resume();
    this.#onChange?.();
  }
}
