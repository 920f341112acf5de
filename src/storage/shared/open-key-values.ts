import type { KeyValues, KeyValuesOptions } from './key-values.ts';
import { createLocalKeyValues } from './local-key-values.ts';

/** The engine of the settings, opened by the first call. */
export function openKeyValues(options: KeyValuesOptions): KeyValues {
  let opened: Promise<KeyValues> | undefined;
  const open = async (): Promise<KeyValues> => {
    if (!options.url) return createLocalKeyValues(options.clock);
    const { createRedisKeyValues } = await import('./redis-key-values.ts');
    return createRedisKeyValues(options);
  };
  const engine = (): Promise<KeyValues> => (opened ??= open());
  return {
    get: async (...args) => (await engine()).get(...args),
    set: async (...args) => (await engine()).set(...args),
    remove: async (...args) => (await engine()).remove(...args),
    readTtl: async (...args) => (await engine()).readTtl(...args),
    increment: async (...args) => (await engine()).increment(...args),
    close: () => void opened?.then(it => it.close()),
  };
}
