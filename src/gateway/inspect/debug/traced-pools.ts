import type { UpstreamPools } from '../../proxy/pools.ts';
import type { UpstreamDispatcher, UpstreamRequestOptions } from '../../proxy/upstream-dispatcher.ts';

/** Upstream pools that report each dispatched request. */
export function tracePools(pools: UpstreamPools, onSend: (options: UpstreamRequestOptions) => void): UpstreamPools {
  return {
    ...pools,
    get(...which: Parameters<UpstreamPools['get']>) {
      const pool = pools.get(...which);
      const dispatch: UpstreamDispatcher['dispatch'] = (options, handler) => {
        onSend(options);
        pool.dispatch(options, handler);
      };
      return new Proxy(pool, { get: (it, name) => (name === 'dispatch' ? dispatch : Reflect.get(it, name)) });
    },
  };
}
