type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Keyed mutex of this process: the work of one key runs one after the other, in the order of its calls. The queue of a
 * key has no bound, and the work sets its own timeouts: for rare work such as calls of a provider.
 */
export function createKeyedMutex(): RunExclusive {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const run = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, run);
    try {
      return await run;
    } finally {
      if (last.get(key) === run) last.delete(key);
    }
  };
}
