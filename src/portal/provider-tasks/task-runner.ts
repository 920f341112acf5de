import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import { performOrDefer, type TaskServices } from './perform.ts';
import type { StoredProviderTask } from './schema.ts';

export interface TaskRunnerOptions extends TaskServices {
  readonly log: Log;
}

const pollIntervalMs = 1000;
const maxConcurrentTasks = 8;

/** Finishes calls of providers whose process ended, or whose provider was unavailable. */
export function startProviderTaskRunner(options: TaskRunnerOptions): RepeatedWork {
  const { portal, clock, log } = options;
  const state = { isReleased: false, isFailing: false };

  async function run(): Promise<void> {
    if (!state.isReleased) await portal.providerTasks.releaseOwn(clock.now());
    state.isReleased = true;
    const claimed = await portal.providerTasks.claim(clock.now(), maxConcurrentTasks);
    state.isFailing = false;
    await Promise.all(claimed.map(task => runTask(task, options)));
  }

  /** Logs once until the log of tasks works again. */
  function onError({ message: reason }: Error): void {
    if (!state.isFailing) log.warn({ reason }, 'provider tasks unavailable, retrying');
    state.isFailing = true;
  }

  return every(pollIntervalMs, run, { onError, runsAtStart: true });
}

async function runTask(task: StoredProviderTask, options: TaskRunnerOptions): Promise<void> {
  const { ID: id, Kind: kind, ProviderID: provider, Attempts: attempts } = task;
  try {
    await performOrDefer(task, options);
  } catch (error) {
    options.log.error({ id, kind, provider, attempts, reason: (error as Error).message }, 'provider task failed');
  }
}
