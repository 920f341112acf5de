import type { Peer } from '../../pipeline/exchange.ts';
import type { BodyRate } from '../body-rate.ts';
import type { TransportOptions } from '../transport.ts';
import type { ConnectionTimeouts } from './connection-timeout.ts';

/** State shared by the connections of a transport. */
export interface ConnectionContext {
  readonly options: TransportOptions;
  readonly bodyRate: BodyRate;
  readonly timeouts: ConnectionTimeouts;
  /** Header lines of a connection that stays open, and the empty line. */
  readonly keepAliveLines: string;
  dateLine(): string;
  onClose(connection: ManagedConnection): void;
}

/** A connection as its transport sees it. */
export interface ManagedConnection {
  readonly peer: Peer;
  /** Graceful shutdown: closes now when idle, else after the response in progress. */
  closeWhenIdle(): void;
}
