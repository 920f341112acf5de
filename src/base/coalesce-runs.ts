/**
 * Coalescing: calls during a run lead to one further run, which begins after it. `onError` receives the failure of a
 * run.
 */
export function coalesceRuns(run: () => Promise<unknown>, onError: (error: Error) => void): () => void {
  let state: 'idle' | 'running' | 'requested' = 'idle';

  async function runAll(): Promise<void> {
    do {
      state = 'running';
      try {
        await run();
      } catch (error) {
        onError(error as Error);
      }
    } while (isRequested());
    state = 'idle';
  }

  const isRequested = () => state === 'requested';

  return () => {
    if (state === 'idle') void runAll();
    else state = 'requested';
  };
}
