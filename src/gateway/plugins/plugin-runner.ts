import type { Clock } from '#base/clock.ts';
import { createSeed } from '#base/ids.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Settings } from '#base/settings.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { GrpcFailure } from './grpc/grpc-error.ts';
import { checkCall, type GuestFault, type GuestOutcome, type GuestSet } from './sandbox/guest.ts';
import { createThreadImages, type ThreadImage, workersOnly } from './sandbox/thread-images.ts';
import { createWorkerPool, type IdentifiedSet } from './sandbox/worker-pool.ts';

/** Functions of the host that wait: requests, keys, storage. A thrown `HostFault` is an exception in the guest. */
export type HostCall = (name: string, args: readonly unknown[], timeoutMs: number) => Promise<unknown>;

export class HostFault extends Error {}

/** Encoded call of a hook, see `guest-prelude.ts`; the seed is added here. */
export interface HookInput {
  readonly head: string;
  readonly body: string;
}

export interface HookResult {
  readonly text: string;
  readonly logs: readonly string[];
}

/** Loaded scripts of one API on this thread. */
export interface PluginSet {
  run(input: HookInput, host: HostCall): MaybePromise<HookResult>;
  /** Loads the scripts before the first call; rejects with a `PluginError` where they do not load. */
  check(): Promise<void>;
}

/** A plugin failed; the message is for operators. */
export class PluginError extends Error {
  readonly type: GuestFault['type'] | 'timeout' | 'calls' | 'overload' | GrpcFailure;
  readonly logs: readonly string[];
  /** Refusal in place of that of the step. */
  readonly refusal: RefusalCode | undefined;
  /** Type of the failure where the script did not load. */
  loadType: GuestFault['type'] | undefined;

  constructor(type: PluginError['type'], message: string, logs: readonly string[] = [], refusal?: RefusalCode) {
    super(message);
    this.type = type;
    this.logs = logs;
    this.refusal = refusal;
  }
}

export interface PluginRunner {
  load(set: GuestSet): PluginSet;
  close(): Promise<void>;
}

const maxLogBytes = 16_384;
const maxWaitingCalls = 200;

/** Runs hooks on workers, and on the traffic thread while they are short, unless a setting forbids it. */
export function createPluginRunner(settings: Settings, clock: Clock): PluginRunner {
  const limits = {
    maxMemoryBytes: settings['plugins.max_memory_bytes'],
    maxOutputBytes: settings['plugins.max_output_bytes'],
    maxLogBytes,
  };
  const timeoutMs = settings['plugins.timeout_ms'];
  const maxHostCalls = settings['plugins.max_calls'];
  const threadImages = settings['plugins.run_on'] === 'traffic_thread' ? createThreadImages(limits) : workersOnly;
  const pool = createWorkerPool({
    limits,
    maxWorkers: settings['plugins.workers'],
    maxWaiting: maxWaitingCalls,
    createOverload: () => new PluginError('overload', 'too many plugin calls wait for a worker'),
  });
  let nextId = 1;

  return {
    load(set) {
      const identified: IdentifiedSet = { ...set, id: nextId++ };
      return createPluginSet({
        clock,
        timeoutMs,
        maxHostCalls,
        pool,
        set: identified,
        onThread: threadImages.open(identified.id),
      });
    },
    close: () => pool.close(),
  };
}

interface SetParts {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxHostCalls: number;
  readonly pool: ReturnType<typeof createWorkerPool>;
  readonly set: IdentifiedSet;
  readonly onThread: ThreadImage;
}

/** A call in progress: results of host functions so far, and its deadline. */
interface CallState {
  readonly head: string;
  readonly body: string;
  readonly nowMs: number;
  readonly results: string[];
  /** Later by the start of a worker. */
  deadline: number;
}

const createState = ({ head, body }: HookInput, clock: Clock, timeoutMs: number): CallState => ({
  head: `${createSeed()}\n${head}`,
  body,
  nowMs: clock.now(),
  results: [],
  deadline: performance.now() + timeoutMs,
});

function createPluginSet({ clock, timeoutMs, maxHostCalls, pool, set, onThread }: SetParts): PluginSet {
  let loadFault: PluginError | undefined;

  const remaining = ({ deadline }: CallState) => Math.max(0, deadline - performance.now());

  async function runOnWorker(state: CallState) {
    if (loadFault) throw loadFault;
    const sliceMs = remaining(state);
    // Half of it as processor time: on a busy machine a call that waited is not one that does not end.
    const call = { ...state, sliceMs, minCpuMs: sliceMs / 2 };
    const outcome = await pool.run(set, call, {
      onStarted(startMs) {
        state.deadline += startMs;
      },
      wantsImage: onThread.wantsImage(),
      onEnd: onThread.onWorkerRun,
    });
    // Scripts that do not load are not tried again.
    if (outcome.kind === 'failed' && outcome.fault.type === 'load') loadFault = toError(outcome.fault, outcome.logs);
    return outcome;
  }

  /** Runs the hook again after each host function and on a worker, until it ends. */
  async function continueCall(state: CallState, host: HostCall, first: GuestOutcome): Promise<HookResult> {
    let outcome = first;
    for (;;) {
      if (outcome.kind === 'result') return outcome;
      if (outcome.kind === 'failed') throw toError(outcome.fault, outcome.logs);
      if (remaining(state) === 0) throw new PluginError('timeout', `the plugin did not end within ${timeoutMs} ms`);
      if (outcome.kind === 'call') {
        if (state.results.length >= maxHostCalls)
          throw new PluginError('calls', `the plugin made more than ${maxHostCalls} calls`);
        state.results.push(await callHost(host, outcome.name, outcome.argument, remaining(state)));
        outcome = onThread.run(state) ?? (await runOnWorker(state));
      } else outcome = await runOnWorker(state);
    }
  }

  return {
    async check() {
      const outcome = await runOnWorker(createState({ head: checkCall, body: '' }, clock, timeoutMs));
      if (outcome.kind === 'failed') throw toError(outcome.fault, outcome.logs);
    },
    run(input, host) {
      const state = createState(input, clock, timeoutMs);
      const outcome = onThread.run(state);
      if (outcome?.kind === 'result') return outcome;
      if (outcome) return continueCall(state, host, outcome);
      return runOnWorker(state).then(it => continueCall(state, host, it));
    },
  };
}

/** Result of a host function as the guest gets it. */
async function callHost(host: HostCall, name: string, argument: string, timeoutMs: number): Promise<string> {
  try {
    return JSON.stringify({ value: await host(name, JSON.parse(argument) as unknown[], timeoutMs) });
  } catch (error) {
    if (error instanceof HostFault) return JSON.stringify({ fault: error.message });
    throw error;
  }
}

function toError({ type, message, at, loadType }: GuestFault, logs: readonly string[]): PluginError {
  const error = new PluginError(type, at === '' ? message : `${at}: ${message}`, logs);
  error.loadType = loadType;
  return error;
}
