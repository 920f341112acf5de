import type { Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import type { IsClientClaim } from '../http/client-claims.ts';
import type { PathRules } from '../http/path.ts';
import type { ClientAddressResolver } from '../pipeline/client-address.ts';
import type { ReportInvalidRequest } from '../pipeline/invalid-request.ts';
import type { RequestIds } from '../pipeline/request-id.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import type { BodyRateOptions } from './body-rate.ts';

/**
 * One protocol over accepted connections: requests become exchanges, response writers write. Only transports use
 * sockets, so that one can replace another.
 */
export interface Transport {
  /** `port` is 0 for the gateway's own, else an API port. */
  accept(socket: Socket, port: number): void;
  /** Graceful shutdown: closes idle connections at once, others after the response in progress. */
  close(): void;
  /** Graceful shutdown of the connections of one API port. */
  closePort(port: number): void;
}

export type TransportFactory = (options: TransportOptions) => Transport;

export interface TransportOptions {
  readonly handler: RequestHandler;
  readonly clock: Clock;
  readonly paths: PathRules;
  readonly clientAddress: ClientAddressResolver;
  /** Headers dropped unless a trusted proxy sends them. */
  readonly isClientClaim: IsClientClaim;
  readonly limits: TransportLimits;
  /** Request ids from the start of an exchange; absent where no header carries them. */
  readonly requestIds?: RequestIds | undefined;
  /** Receives each request that was refused before it became an exchange. */
  readonly onInvalidRequest?: ReportInvalidRequest | undefined;
  /** WebSocket upgrades are allowed. */
  readonly webSockets: boolean;
  /** Closes each connection after its first response. */
  readonly closesAfterResponse?: boolean;
  /** Receives the error of a response that could not be written. */
  readonly onWriteError: (error: Error) => void;
}

/** Limits of one client connection. */
export interface TransportLimits {
  readonly maxHeaderBytes: number;
  readonly maxHeaders: number;
  readonly headersTimeoutMs: number;
  /** For a whole request; 0 for no limit. */
  readonly requestTimeoutMs: number;
  /** Minimum rate of request bodies. */
  readonly bodyRate: BodyRateOptions;
  /** Idle time of a connection between requests. */
  readonly keepAliveTimeoutMs: number;
  /** Time a client may read nothing of a pending response. */
  readonly writeTimeoutMs: number;
  /** Time for the responses to a client that has ended its side; 0: it counts as disconnected at once. */
  readonly halfCloseTimeoutMs: number;
}
