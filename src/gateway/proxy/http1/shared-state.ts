import type { OnReadOpts, Socket } from 'node:net';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import type { HeadLimits } from '../../http/http1/head-parser.ts';
import type { PendingRequest, UpstreamConnection } from './connection.ts';
import { createSharedReads } from './shared-reads.ts';

/** Interval in which idle connections that expired are closed; a connection is checked again when it is taken. */
const idleSweepIntervalMs = 1000;

interface ScheduledSend {
  readonly connection: UpstreamConnection;
  readonly request: PendingRequest;
  readonly resend: (request: PendingRequest) => void;
}

/** Shared state of the HTTP/1.1 pools of a thread: read buffer, timeouts, scheduled sends. */
export interface Http1SharedState {
  readonly headersTimeouts: TimeoutQueue;
  readonly headLimits: HeadLimits;
  /** Milliseconds that never go back. */
  now(): number;
  readonly onread: OnReadOpts;
  attach(socket: Socket, connection: UpstreamConnection): void;
  /** Sends on a connection from the pool; `resend` when it turns out to be closed. */
  schedule(connection: UpstreamConnection, request: PendingRequest, resend: (request: PendingRequest) => void): void;
  /** Closes the connections of the list when they expire. */
  sweepIdle(idle: readonly UpstreamConnection[]): void;
}

export interface Http1SharedStateOptions {
  readonly headersTimeoutMs: number;
  /** Limits of response heads. */
  readonly headLimits: HeadLimits;
  now(): number;
}

export function createHttp1SharedState({
  headersTimeoutMs,
  headLimits,
  now,
}: Http1SharedStateOptions): Http1SharedState {
  const { onread, attach } = createSharedReads();
  const idleLists = new Set<readonly UpstreamConnection[]>();
  let isSweepScheduled = false;

  function sweep(): void {
    const nowMs = now();
    isSweepScheduled = false;
    for (const idle of idleLists) {
      for (const connection of idle.filter(it => it.idleExpiresAtMs <= nowMs)) connection.close();
      if (idle.length === 0) idleLists.delete(idle);
    }
    if (idleLists.size > 0) startSweep();
  }

  function startSweep(): void {
    if (isSweepScheduled) return;
    isSweepScheduled = true;
    setTimeout(sweep, idleSweepIntervalMs).unref();
  }

  return {
    headersTimeouts: new TimeoutQueue(headersTimeoutMs),
    headLimits,
    now,
    onread,
    attach,
    schedule: createSendSchedule(),
    sweepIdle(idle) {
      idleLists.add(idle);
      startSweep();
    },
  };
}

/**
 * Validation of reused connections: the request is written after the reads of this turn of the event loop. Bytes or an
 * end that are already there close the connection, and the request takes another; otherwise the next client would get a
 * response that was never meant for it. All requests of the turn share one callback.
 */
function createSendSchedule(): Http1SharedState['schedule'] {
  let scheduled: ScheduledSend[] = [];

  function flush(): void {
    const due = scheduled;
    scheduled = [];
    for (const send of due) {
      const { connection, request } = send;
      if (connection.state === 'closed') send.resend(request);
      else if (connection.mayHaveUnread) {
        // Its reads began again in this turn: they are complete after the next one.
        connection.mayHaveUnread = false;
        add(send);
      } else connection.trySend(request);
    }
  }

  function add(send: ScheduledSend): void {
    if (scheduled.push(send) === 1) setImmediate(flush);
  }

  return (connection, request, resend) => add({ connection, request, resend });
}
