import { type FSWatcher, watch } from 'node:fs';
import { problem } from './object-directory.ts';

export interface DirectoryWatch {
  /** Resolves after a run in progress. */
  close(): Promise<void>;
  /** Resolves after the watch was closed and the last run has ended; rejects with an error of a run or of the watch. */
  readonly ended: Promise<void>;
}

interface WatchOptions {
  /** Time without a further event after which the change is complete. */
  readonly settleMs?: number;
  readonly signal?: AbortSignal | undefined;
  /** Runs once at the start too. */
  readonly runsAtStart?: boolean;
}

const defaultSettleMs = 200;

/** Runs work after changes of files below a directory, once they have settled; one run at a time. */
export function watchDirectory(
  directory: string,
  work: () => Promise<void>,
  { settleMs = defaultSettleMs, signal, runsAtStart = false }: WatchOptions = {},
): DirectoryWatch {
  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isPending = false;
  let isClosed = false;
  const watcher = openWatcher(directory);

  function run(): void {
    if (running) {
      isPending = true;
      return;
    }
    isPending = false;
    running = work()
      .catch(fail)
      .finally(() => {
        running = undefined;
        if (isClosed) resolve();
        else if (isPending) run();
      });
  }
  async function close(): Promise<void> {
    if (!isClosed) {
      isClosed = true;
      clearTimeout(timer);
      watcher.close();
      if (!running) resolve();
    }
    await Promise.allSettled([ended]);
  }
  function fail(error: unknown): void {
    reject(error);
    void close();
  }
  watcher.on('change', () => {
    clearTimeout(timer);
    timer = setTimeout(run, settleMs);
  });
  watcher.on('error', fail);
  signal?.addEventListener('abort', () => void close(), { once: true });
  if (runsAtStart) run();
  return { close, ended };
}

function openWatcher(directory: string): FSWatcher {
  try {
    return watch(directory, { recursive: true });
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code;
    throw problem.directory_unreadable({ detail: { path: directory, reason }, cause });
  }
}
