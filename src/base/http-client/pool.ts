import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import type { SecureContext, SecureVersion } from 'node:tls';
import type { Client, Dispatcher, Pool } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import { loadUndici } from '../lazy-packages.ts';
import type { OutboundTarget } from './target.ts';

export interface OutboundTls {
  /** Trusted CAs instead of the default ones, PEM. */
  readonly ca?: string | readonly string[];
  /** Client certificate and key, PEM. */
  readonly cert?: string;
  readonly key?: string;
  readonly minVersion?: SecureVersion;
  readonly maxVersion?: SecureVersion;
  readonly ciphers?: string;
  /** Context with authorities, client certificate, versions and ciphers, in place of the above. */
  readonly secureContext?: SecureContext;
  /** Skips certificate verification, by a setting of the operator. */
  readonly insecure?: boolean;
}

/** Connection pools to checked addresses, one for each set of rules, origin and addresses. */
export interface ConnectionPools {
  use<T>(
    /** Key of the rules the target was checked under: connections are never shared between rules. */
    rules: string,
    target: OutboundTarget,
    tls: OutboundTls | undefined,
    send: (to: Dispatcher) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

export const maxPools = 64;
export const maxConnectionsPerPool = 16;
const maxResponseHeaderBytes = 32 * 1024;
const connectTimeoutMs = 10_000;
const keepAliveTimeoutMs = 4_000;

export function createConnectionPools(): ConnectionPools {
  // An evicted pool finishes the requests it has.
  const pools = new BoundedMap<string, Pool>(maxPools, pool => void pool.close());

  function getPool(rules: string, target: OutboundTarget): Pool {
    const key = [rules, target.url.origin, ...target.addresses.toSorted()].join(' ');
    let pool = pools.touch(key);
    if (!pool) {
      pool = new (loadUndici().Pool)(target.url.origin, {
        ...toClientOptions(target),
        connections: maxConnectionsPerPool,
      });
      pools.set(key, pool);
    }
    return pool;
  }

  return {
    async use(rules, target, tls, send) {
      if (!tls) return send(getPool(rules, target));
      // Requests with their own CAs or client certificate never share a connection.
      const client = new (loadUndici().Client)(target.url.origin, { ...toClientOptions(target, tls), pipelining: 0 });
      try {
        return await send(client);
      } finally {
        await client.destroy();
      }
    },
    async close() {
      await Promise.all([...pools.values()].map(pool => pool.destroy()));
      pools.clear();
    },
  };
}

/** undici options; its timeouts are off, since the request's own timeout covers every phase. */
function toClientOptions(target: OutboundTarget, tls: OutboundTls = {}): Client.Options {
  const { insecure = false, ca, ...options } = tls;
  return {
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: keepAliveTimeoutMs,
    keepAliveMaxTimeout: keepAliveTimeoutMs,
    maxHeaderSize: maxResponseHeaderBytes,
    allowH2: false,
    autoSelectFamily: true,
    connect: {
      timeout: connectTimeoutMs,
      lookup: createPinnedLookup(target.addresses),
      rejectUnauthorized: !insecure,
      ...(ca !== undefined && { ca: typeof ca === 'string' ? ca : [...ca] }),
      ...options,
    },
  };
}

/** DNS lookup that returns the checked addresses, whatever the name resolves to by now. */
function createPinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (host, options, answer) => {
    const [first] = entries;
    if (options.all) answer(null, entries);
    else if (first) answer(null, first.address, first.family);
    else answer(new Error(`no address for ${host}`), '', 0);
  };
}
