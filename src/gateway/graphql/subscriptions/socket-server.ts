import type { Duplex } from 'node:stream';
import type { CheckedGraphqlRequest, GraphqlSocket } from '../../pipeline/checked-graphql.ts';
import { WebSocketPeer } from '../../proxy/websocket-peer.ts';
import { SourceError } from '../engine/source-error.ts';
import { messageTypes } from './socket-protocols.ts';

/** "Going away" (RFC 6455, 7.4.1). */
const goingAwayCode = 1001;
/** Close codes of graphql-transport-ws. */
const invalidMessageCode = 4400;
const unauthorizedCode = 4401;
const initialisationTimeoutCode = 4408;
const idTakenCode = 4409;
const tooManyInitialisationsCode = 4429;

/** Of graphql-transport-ws: the time until `connection_init`. */
const defaultInitTimeoutMs = 15_000;
const maxIdLength = 256;

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

/** Operations of a WebSocket by their id; `count` has also those that a client has stopped, until they have ended. */
interface RunningOperations {
  readonly byId: Map<string, AbortController>;
  count: number;
}

/**
 * Server of GraphQL over WebSocket: `graphql-transport-ws`, or the older `graphql-ws`. Operations run at the same time;
 * each waits with its next result while the client does not read.
 */
export function serveGraphqlSocket(stream: Duplex, options: SocketServerOptions): { goAway(): void } {
  const { socket, initTimeoutMs = defaultInitTimeoutMs } = options;
  const types = messageTypes[socket.protocol];
  const running: RunningOperations = { byId: new Map(), count: 0 };
  let isInitialised = false;
  let sentBytes = 0;
  const timer = setTimeout(() => peer.close(initialisationTimeoutCode), initTimeoutMs);
  const peer = new WebSocketPeer(stream, {
    isClient: false,
    maxMessageBytes: socket.maxMessageBytes,
    closeTimeoutMs: options.closeTimeoutMs,
    onMessage,
    onError: options.onError,
    onClose() {
      clearTimeout(timer);
      stopWatching();
      for (const controller of running.byId.values()) controller.abort();
      options.onClose(sentBytes);
    },
  });
  const stopWatching = socket.watch(code => peer.close(code));

  function write(message: object): string {
    const text = JSON.stringify(message);
    sentBytes += text.length;
    return text;
  }
  const reply = (message: object) => peer.reply(write(message));

  function onMessage(text: string): Promise<void> | undefined {
    const message = socket.readMessage(text);
    const { type, id, payload } = message ?? {};
    if (type === types.start) return start(id, payload);
    if (type === types.stop && typeof id === 'string') return stop(id);
    if (type === 'connection_init') initialise();
    else if (type === 'ping') reply({ type: 'pong' });
    else if (type === 'connection_terminate') peer.close();
    else if (type !== 'pong') peer.close(invalidMessageCode);
  }

  function initialise(): void {
    if (isInitialised) return peer.close(tooManyInitialisationsCode);
    isInitialised = true;
    clearTimeout(timer);
    reply({ type: 'connection_ack' });
  }

  function stop(id: string): undefined {
    running.byId.get(id)?.abort();
    running.byId.delete(id);
  }

  function refuse(id: string, errors: readonly object[]): void {
    reply({ id, type: 'error', payload: socket.protocol === 'graphql-ws' ? errors[0] : errors });
  }

  async function start(id: unknown, payload: unknown): Promise<void> {
    if (!isInitialised) return peer.close(unauthorizedCode);
    if (typeof id !== 'string' || id === '' || id.length > maxIdLength) return peer.close(invalidMessageCode);
    if (running.byId.has(id)) return peer.close(idTakenCode);
    const { maxOperations } = socket;
    if (running.count >= maxOperations) {
      const message = `a WebSocket has at most ${maxOperations} operations in progress`;
      return refuse(id, [{ message, extensions: { code: 'operation_limit_exceeded' } }]);
    }
    const decision = await socket.check(payload);
    if (decision.kind === 'refuse') return refuse(id, decision.errors);
    if (decision.kind === 'execute') return void runOperation(id, decision.request);
    reply({ id, type: types.result, payload: JSON.parse(decision.result) });
    reply({ id, type: 'complete' });
  }

  /** Never rejects. */
  async function runOperation(id: string, request: CheckedGraphqlRequest): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    running.byId.set(id, controller);
    running.count++;
    let last: object = { id, type: 'complete' };
    try {
      for await (const payload of options.run(request, signal)) {
        for (let drained = peer.waitForDrain(); drained; drained = peer.waitForDrain()) await drained;
        if (signal.aborted) return;
        peer.send(write({ id, type: types.result, payload }));
      }
    } catch (error) {
      if (!(error instanceof SourceError)) options.onError(error);
      const errors = [{ message: error instanceof SourceError ? error.message : 'Internal server error' }];
      last = { id, type: 'error', payload: socket.protocol === 'graphql-ws' ? errors[0] : errors };
    } finally {
      running.count--;
      if (running.byId.get(id) === controller) running.byId.delete(id);
      // The client knows of an operation that it has stopped.
      if (!signal.aborted) peer.send(write(last));
    }
  }

  return { goAway: () => peer.close(goingAwayCode) };
}
