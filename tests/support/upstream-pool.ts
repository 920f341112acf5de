import type { TestContext } from 'node:test';
import { createAddressPolicy } from '#base/address-policy.ts';
import { createDefaultConnection, type UpstreamConnectionOptions } from '../../src/gateway/proxy/connection-options.ts';
import { createUpstreamPools, type PoolOptions, type UpstreamPool } from '../../src/gateway/proxy/pools.ts';

const loopbackPolicy = createAddressPolicy({ networks: ['loopback'], managementPorts: () => [] });

export interface TestPoolOptions {
  readonly pool?: Partial<PoolOptions>;
  readonly connection?: Partial<UpstreamConnectionOptions>;
}

/** Pool of the native HTTP/1.1 engine to an origin on loopback, closed after the test. */
export function createTestPool(t: TestContext, origin: string, options: TestPoolOptions = {}): UpstreamPool {
  const pools = createUpstreamPools({
    connectTimeoutMs: 5000,
    headersTimeoutMs: 5000,
    maxConnections: 4,
    maxStreams: 4,
    maxWaiting: 4,
    waitTimeoutMs: 5000,
    maxSharePercent: 100,
    headLimits: { maxHeaderBytes: 16_384, maxHeaders: 1000 },
    prereadBytes: 1024,
    maxPrereadBytes: 1024,
    http1Engine: 'native',
    ...options.pool,
  });
  t.after(() => pools.close());
  return pools.get(origin, { ...createDefaultConnection(loopbackPolicy), ...options.connection });
}
