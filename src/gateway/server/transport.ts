import type { Socket } from 'node:net';
import type { Clock } from '#base/clock.ts';
import type { IsClientClaim } from '../http/client-claims.ts';
import type { PathRules } from '../http/path.ts';
import type { ClientAddressResolver } from '../pipeline/client-address.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import type { BodyRateOptions } from './body-rate.ts';

/**
 * Speaks one protocol over connections that are given to it: what comes in becomes exchanges, what is written to sinks
 * goes out. Nothing else in the gateway knows a socket, so that one transport can stand in for another.
 */
export interface Transport {
  /** `port` is 0 for the gateway's own, else the port of an API that has one of its own. */
  accept(socket: Socket, port: number): void;
  /** Takes no more calls: idle connections are closed at once, others after the answer under way. */
  close(): void;
  /** The same for the connections of one port, which is no longer there. */
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
  /** Whether calls may ask for a WebSocket. */
  readonly webSockets: boolean;
  /** Whether a connection ends with its first answer. */
  readonly closesAfterResponse?: boolean;
  /** Told of an answer that could not be sent as it was. */
  readonly onWriteError: (error: Error) => void;
}

/** How much of one caller is borne. */
export interface TransportLimits {
  readonly maxHeaderBytes: number;
  readonly headers: number;
  readonly headersTimeoutMs: number;
  /** For a whole call; 0 is for ever. */
  readonly requestTimeoutMs: number;
  /** How fast the body of a request comes at least. */
  readonly bodyRate: BodyRateOptions;
  /** How long a connection may be idle between calls. */
  readonly keepAliveTimeoutMs: number;
  /** How long a caller may take nothing of an answer that waits for it. */
  readonly writeTimeoutMs: number;
}
