import type { Duplex } from 'node:stream';
import type { CheckedGraphqlRequest, GraphqlSocket } from '../../pipeline/checked-graphql.ts';
import { goingAwayCode } from '../../proxy/websocket-codes.ts';
import { WebSocketPeer } from '../../proxy/websocket-peer.ts';
import { SourceError } from '../engine/source-error.ts';
import { maskedMessage } from '../mask-errors.ts';
import { createExcessError, isOperationId } from '../socket-operations.ts';
import { invalidMessageCode, messageTypes, unauthorizedCode } from './socket-protocols.ts';

/** Further close codes of graphql-transport-ws. */
const initialisationTimeoutCode = 4408;
const idTakenCode = 4409;
const tooManyInitialisationsCode = 4429;

/** Of graphql-transport-ws: the time until `connection_init`. */
const defaultInitTimeoutMs = 15_000;
export interface SocketServerOptions {
  readonly socket: GraphqlSocket;
  readonly closeTimeoutMs: number;
  readonly initTimeoutMs?: number;
  /** Results of an operation: one, or one for each event. Throws `SourceError` where its source fails. */
  run(request: CheckedGraphqlRequest, signal: AbortSignal): AsyncIterable<object>;
  onError(error: unknown): void;
  /** Last call. */
  onClose(sentBytes: number): void;
}

/**
 * Server of GraphQL over WebSocket: `graphql-transport-ws`, or the older `graphql-ws`. Operations run at the same time;
 * each waits with its next result while the client does not read. A class: one is created per connection.
 */
export class GraphqlSocketServer {
  readonly #options: SocketServerOptions;
  readonly #peer: WebSocketPeer;
  readonly #timer: NodeJS.Timeout;
  readonly #stopWatching: () => void;
  readonly #running = new Map<string, AbortController>();
  /** With those that the client has stopped, until they have ended. */
  #runningCount = 0;
  #isInitialised = false;

  constructor(stream: Duplex, options: SocketServerOptions) {
    this.#options = options;
    const { socket, closeTimeoutMs, initTimeoutMs = defaultInitTimeoutMs } = options;
    this.#timer = setTimeout(() => this.#peer.close(initialisationTimeoutCode), initTimeoutMs);
    this.#peer = new WebSocketPeer(stream, {
      isClient: false,
      maxMessageBytes: socket.maxMessageBytes,
      closeTimeoutMs,
      pingIntervalMs: socket.pingIntervalMs,
      onMessage: text => this.#onMessage(text),
      onError: options.onError,
      onClose: () => this.#onClose(),
    });
    this.#stopWatching = socket.watch(code => this.#peer.close(code));
  }

  goAway(): void {
    this.#peer.close(goingAwayCode);
  }

  #onClose(): void {
    clearTimeout(this.#timer);
    this.#stopWatching();
    for (const controller of this.#running.values()) controller.abort();
    this.#options.onClose(this.#peer.sentBytes);
  }

  #onMessage(text: string): Promise<void> | undefined {
    const { socket } = this.#options;
    const types = messageTypes[socket.protocol];
    const { type, id, payload } = socket.readMessage(text) ?? {};
    if (type === types.start) return this.#start(id, payload);
    if (type === types.stop && typeof id === 'string') this.#stop(id);
    else if (type === 'connection_init') this.#initialise();
    else if (type === 'ping') this.#reply({ type: 'pong' });
    else if (type === 'connection_terminate') this.#peer.close();
    else if (type !== 'pong') this.#peer.close(invalidMessageCode);
    return undefined;
  }

  #initialise(): void {
    if (this.#isInitialised) return this.#peer.close(tooManyInitialisationsCode);
    this.#isInitialised = true;
    clearTimeout(this.#timer);
    this.#reply({ type: 'connection_ack' });
  }

  #stop(id: string): void {
    this.#running.get(id)?.abort();
    this.#running.delete(id);
  }

  async #start(id: unknown, payload: unknown): Promise<void> {
    if (!this.#isInitialised) return this.#peer.close(unauthorizedCode);
    if (!isOperationId(id)) return this.#peer.close(invalidMessageCode);
    if (this.#running.has(id)) return this.#peer.close(idTakenCode);
    const { socket } = this.#options;
    const { maxOperations } = socket;
    if (this.#runningCount >= maxOperations) {
      return this.#reply(this.#toError(id, [createExcessError(maxOperations)]));
    }
    const decision = await socket.check(payload);
    // A connection that ended meanwhile would not abort the operation.
    if (!this.#peer.isOpen) return;
    if (decision.kind === 'refuse') return this.#reply(this.#toError(id, decision.errors));
    if (decision.kind === 'execute') return void this.#run(id, decision.request);
    this.#reply({ id, type: messageTypes[socket.protocol].result, payload: JSON.parse(decision.result) });
    this.#reply({ id, type: 'complete' });
  }

  /** Never rejects. */
  async #run(id: string, request: CheckedGraphqlRequest): Promise<void> {
    const { socket, run, onError } = this.#options;
    const peer = this.#peer;
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(id, controller);
    this.#runningCount++;
    let last: object = { id, type: 'complete' };
    try {
      for await (const payload of run(request, signal)) {
        for (let drained = peer.waitForDrain(); drained; drained = peer.waitForDrain()) await drained;
        if (signal.aborted) return;
        peer.send(JSON.stringify({ id, type: messageTypes[socket.protocol].result, payload }));
      }
    } catch (error) {
      if (!(error instanceof SourceError)) onError(error);
      last = this.#toError(id, [{ message: error instanceof SourceError ? error.message : maskedMessage }]);
    } finally {
      this.#runningCount--;
      if (this.#running.get(id) === controller) this.#running.delete(id);
      // An operation that the client has stopped gets no further message.
      if (!signal.aborted) peer.send(JSON.stringify(last));
    }
  }

  /** The older protocol has one error. */
  #toError(id: string, errors: readonly object[]): object {
    return { id, type: 'error', payload: this.#options.socket.protocol === 'graphql-ws' ? errors[0] : errors };
  }

  #reply(message: object): void {
    this.#peer.reply(JSON.stringify(message));
  }
}
