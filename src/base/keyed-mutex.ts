export type RunExclusive = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Mutual exclusion by key, in this process: the work of one key runs one after the other, in the order of its calls. */
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
