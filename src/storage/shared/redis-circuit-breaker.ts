import { within } from './redis-connection.ts';

/** Stands in front of something that may be away, so that only the first caller waits in vain. */
export interface Fuse {
  /** False while blown. */
  whole(): boolean;
  /** Blows it: what it guards failed. */
  blow(cause: unknown): void;
  /** Tries at once whether it can be mended, rather than at the next turn. */
  tryNow(): void;
  /** Resolves when it is whole for the first time, or after the wait. */
  settled(waitMs: number): Promise<void>;
  close(): void;
}

export interface FuseOptions {
  /** Succeeds when what is guarded is there again. */
  probe(): Promise<void>;
  /** Called after the fuse was mended. */
  mended(): void;
  onState?: ((state: 'ok' | 'degraded', cause?: unknown) => void) | undefined;
}

const firstProbeMs = 50;
const lastProbeMs = 1000;

/** It begins blown, and is mended by the first probe that succeeds. */
export function fuse({ probe, mended, onState }: FuseOptions): Fuse {
  const first = Promise.withResolvers<void>();
  let state: 'ok' | 'degraded' = 'degraded';
  let closed = false;
  let probing = false;
  let delayMs = firstProbeMs;
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => void turn(), delayMs);
    timer.unref();
    delayMs = Math.min(delayMs * 2, lastProbeMs);
  }

  async function turn(): Promise<void> {
    if (probing || closed || state === 'ok') return;
    probing = true;
    try {
      await probe();
      if (!closed) mend();
    } catch {
      // Still away, as was said when the fuse blew.
      schedule();
    } finally {
      probing = false;
    }
  }

  function mend(): void {
    state = 'ok';
    delayMs = firstProbeMs;
    first.resolve();
    onState?.(state);
    mended();
  }

  function blow(cause: unknown): void {
    if (closed || state === 'degraded') return;
    state = 'degraded';
    onState?.(state, cause);
    schedule();
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
  }

  schedule();
  return {
    whole: () => state === 'ok',
    blow,
    tryNow: () => void turn(),
    settled: waitMs => within(first.promise, waitMs).catch(() => undefined),
    close,
  };
}
