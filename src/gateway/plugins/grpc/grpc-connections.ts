import { type LookupAddress, lookup } from 'node:dns';
import { type ClientHttp2Session, connect } from 'node:http2';
import { isIP, type LookupFunction } from 'node:net';
import type { GrpcAddress } from './grpc-address.ts';
import { GrpcError } from './grpc-error.ts';

export interface GrpcConnectionOptions {
  readonly address: GrpcAddress;
  readonly connections: number;
  /** Options of TLS; read again at each connection, so that renewed files need no restart. */
  readTls(): { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  onConnectionLost(reason: string): void;
}

/** Backoff after a failed attempt to connect; calls fail at once meanwhile. */
const minBackoffMs = 100;
const maxBackoffMs = 10_000;
const connectTimeoutMs = 5000;
/** Time for the acknowledgement of a PING after a call timed out; without one the connection is closed. */
const pingTimeoutMs = 5000;
const maxHeaderBytes = 16_384;
const maxHeaders = 128;
const windowBytes = 1_048_576;
const maxSessionMegabytes = 256;

/** One of the connections: open, or closed until `retryAtMs`. */
interface Slot {
  readonly index: number;
  session: ClientHttp2Session | undefined;
  failedAttempts: number;
  retryAtMs: number;
}

export interface GrpcConnections {
  /** Session of the next connection, opened where it is closed. Throws `GrpcError` while none may be opened. */
  acquire(): ClientHttp2Session;
  /** PING after a timeout: a connection whose server is gone does not end by itself. */
  ping(session: ClientHttp2Session): void;
  close(): void;
}

/** Fixed number of HTTP/2 connections to one server, each opened by the first call that needs it. */
export function createGrpcConnections(options: GrpcConnectionOptions): GrpcConnections {
  const { address } = options;
  const slots = Array.from({ length: options.connections }, (_, index): Slot => {
    return { index, session: undefined, failedAttempts: 0, retryAtMs: 0 };
  });
  const pinging = new WeakSet<ClientHttp2Session>();
  let nextSlot = 0;
  let isClosed = false;

  function open(slot: Slot): ClientHttp2Session {
    const session = createSession(options, slot.index + slot.failedAttempts);
    slot.session = session;
    watchSession(session, slot, reason => {
      if (!isClosed) options.onConnectionLost(reason);
    });
    return session;
  }

  return {
    acquire() {
      const now = performance.now();
      for (let i = 0; i < slots.length; i++) {
        const slot = slots[nextSlot]!;
        nextSlot = (nextSlot + 1) % slots.length;
        if (slot.session && !slot.session.closed) return slot.session;
        if (slot.retryAtMs <= now) return open(slot);
      }
      throw new GrpcError('unavailable', `no connection to ${address.authority}; it is tried again after a delay`);
    },
    ping(session) {
      if (pinging.has(session) || session.connecting || session.destroyed) return;
      pinging.add(session);
      const timer = setTimeout(() => session.destroy(new Error('no response to PING')), pingTimeoutMs).unref();
      session.ping(() => {
        clearTimeout(timer);
        pinging.delete(session);
      });
    },
    close() {
      isClosed = true;
      for (const { session } of slots) session?.destroy();
    },
  };
}

/** Releases the slot when the session ends, with a backoff where it never connected. */
function watchSession(session: ClientHttp2Session, slot: Slot, onLost: (reason: string) => void): void {
  const timer = setTimeout(() => session.destroy(new Error('timeout of the connection')), connectTimeoutMs).unref();
  let isConnected = false;
  let fault = 'closed by the server';
  const release = () => {
    if (slot.session === session) slot.session = undefined;
  };
  session.once('connect', () => {
    clearTimeout(timer);
    isConnected = true;
    slot.failedAttempts = 0;
  });
  session.on('error', (error: Error) => {
    fault = error.message;
  });
  session.once('goaway', release);
  session.once('close', () => {
    clearTimeout(timer);
    release();
    if (!isConnected) startBackoff(slot);
    onLost(fault);
  });
}

function startBackoff(slot: Slot): void {
  slot.retryAtMs = performance.now() + Math.min(minBackoffMs * 2 ** slot.failedAttempts++, maxBackoffMs);
}

function createSession({ address, readTls }: GrpcConnectionOptions, turn: number): ClientHttp2Session {
  try {
    return connect(`${address.isTls ? 'https' : 'http'}://${address.authority}`, {
      ...(address.isTls ? { ...readTls(), ...readServerName(address.host) } : undefined),
      lookup: createRotatingLookup(turn),
      settings: { enablePush: false, maxHeaderListSize: maxHeaderBytes, initialWindowSize: windowBytes },
      maxHeaderListPairs: maxHeaders,
      maxSessionMemory: maxSessionMegabytes,
    });
  } catch (error) {
    // Files of TLS that cannot be read.
    throw new GrpcError('unavailable', (error as Error).message);
  }
}

/** SNI has names only (RFC 6066, 3). */
const readServerName = (host: string) => (isIP(host) ? { servername: '' } : { servername: host });

/** Addresses of the host in another order for each connection, which spreads them over all. */
function createRotatingLookup(turn: number): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      if (error) return callback(error, '', 0);
      const at = turn % addresses.length;
      const rotated = [...addresses.slice(at), ...addresses.slice(0, at)];
      if (options.all) return callback(null, rotated);
      callback(null, rotated[0]!.address, rotated[0]!.family);
    });
  };
}
