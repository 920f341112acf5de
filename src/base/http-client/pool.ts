import type { LookupFunction } from 'node:net';
import { isIPv6 } from 'node:net';
import { Client, type Dispatcher, Pool } from 'undici';
import { BoundedMap } from '../bounded-map.ts';
import type { OutboundTarget } from './target.ts';

export interface OutboundTls {
  /** Authorities to trust instead of the usual ones, as PEM. */
  readonly ca?: string | readonly string[];
  /** A client certificate and its key, as PEM. */
  readonly cert?: string;
  readonly key?: string;
  /** Accepts any certificate. For operators who say so. */
  readonly insecure?: boolean;
}

/** Connections to checked addresses. Idle ones are kept a few seconds, for the same rules, origin and addresses. */
export interface ConnectionPools {
  use<T>(
    /** Connections are shared under the same rules only. */
    rules: string,
    target: OutboundTarget,
    tls: OutboundTls | undefined,
    ask: (to: Dispatcher) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

export const maxPools = 64;
export const maxConnectionsPerPool = 16;
export const maxResponseHeaderBytes = 32 * 1024;
const connectTimeoutMs = 10_000;
const keepAliveTimeoutMs = 4_000;

export function createConnectionPools(): ConnectionPools {
  // An evicted pool finishes the requests it has.
  const pools = new BoundedMap<string, Pool>(maxPools, pool => void pool.close());

  function getPool(rules: string, target: OutboundTarget): Pool {
    const key = [rules, target.url.origin, ...target.addresses.toSorted()].join(' ');
    let pool = pools.touch(key);
    if (!pool) {
      pool = new Pool(target.url.origin, { ...toClientOptions(target), connections: maxConnectionsPerPool });
      pools.set(key, pool);
    }
    return pool;
  }

  return {
    async use(rules, target, tls, ask) {
      if (!tls) return ask(getPool(rules, target));
      // Who trusts or shows something special gets a connection of their own.
      const client = new Client(target.url.origin, { ...toClientOptions(target, tls), pipelining: 0 });
      try {
        return await ask(client);
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

/** The call's own time bound ends all waiting, so that the parts of it need none. */
function toClientOptions(target: OutboundTarget, tls: OutboundTls = {}): Client.Options {
  const { insecure = false, ca, cert, key } = tls;
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
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    },
  };
}

/** Answers with the addresses that were checked, whatever the name would mean by now. */
function createPinnedLookup(addresses: readonly string[]): LookupFunction {
  const entries = addresses.map(address => ({ address, family: isIPv6(address) ? 6 : 4 }));
  return (host, options, answer) => {
    const [first] = entries;
    if (options.all) answer(null, entries);
    else if (first) answer(null, first.address, first.family);
    else answer(new Error(`no address for ${host}`), '', 0);
  };
}
