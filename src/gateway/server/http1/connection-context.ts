import { type Body, noBody } from '../../http/body.ts';
import { HeaderList } from '../../http/headers.ts';
import type { Peer } from '../../pipeline/exchange.ts';
import type { BodyRate } from '../body-rate.ts';
import type { TransportOptions } from '../transport.ts';
import type { ConnectionTimeouts } from './connection-timeout.ts';
import type { WriteBuffers } from './write-buffers.ts';

/** Bytes of a request body that wait for its reader. */
export const maxBufferedBodyBytes = 65_536;

/** Placeholders between requests; never changed. */
export const noHeaders = new HeaderList();
export const emptyBody: Body = noBody();

/** State shared by the connections of a transport. */
export interface ConnectionContext {
  readonly options: TransportOptions;
  readonly bodyRate: BodyRate;
  readonly timeouts: ConnectionTimeouts;
  readonly writeBuffers: WriteBuffers;
  /** Header lines of a connection that stays open, and the empty line. */
  readonly keepAliveLines: string;
  dateLine(): string;
  onClose(connection: ManagedConnection): void;
}

/** A connection, for its transport. */
export interface ManagedConnection {
  readonly peer: Peer;
  /** Graceful shutdown: closes now when idle, else after the response in progress. */
  closeWhenIdle(): void;
}

/**
 * - `idle`: waits for a request.
 * - `head`: a part of a request head has arrived.
 * - `body`: a request is in progress, and its body incomplete.
 * - `response`: a request has arrived, and its response is incomplete.
 * - `flushing`: the response waits for the client, and pipelined requests for the response.
 * - `lingering`: the last response is written; what still arrives is discarded.
 * - `switched`: another protocol owns the socket.
 * - `closing`: nothing is read any more.
 */
export type ServerConnectionState =
  | 'idle'
  | 'head'
  | 'body'
  | 'response'
  | 'flushing'
  | 'lingering'
  | 'switched'
  | 'closing';
