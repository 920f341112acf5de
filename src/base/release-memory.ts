type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Collects all garbage of this thread and returns free pages to the system. For the end of a start, which leaves more
 * garbage than it keeps: without traffic V8 would hold it for as long as the process runs. Only a process started with
 * `--expose-gc`, as by `bin/gw`, can.
 */
export function releaseMemory(): void {
  const { gc } = globalThis as { gc?: Collect };
  gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}
