import type { Clock } from '#base/clock.ts';
import { createSeed } from '#base/ids.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Settings } from '#base/settings.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { GrpcFailure } from './grpc/grpc-error.ts';
import { checkCall, type GuestFault, type GuestImage, type GuestOutcome, type GuestSet } from './sandbox/guest.ts';
import { loadSandbox } from './sandbox/lazy-sandbox.ts';
import type { ScriptSandbox } from './sandbox/sandbox.ts';
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
  /** Throws `GuestLoadError` where a script does not load. */
  load(set: GuestSet): PluginSet;
  close(): Promise<void>;
}

/** Processor time that a plugin may take on the traffic thread; a longer call starts over on a worker. */
const threadSliceMs = 10;
/** Calls of one set that go to a worker after one took too long, before the thread is tried again. */
const callsOnWorker = 1000;
const maxLogBytes = 16_384;
const loadTimeoutMs = 1000;
const maxWaitingCalls = 200;

/** Runs hooks on workers, or by setting on the traffic thread while they are short. */
export function createPluginRunner(settings: Settings, clock: Clock): PluginRunner {
  const limits = {
    maxMemoryBytes: settings['plugins.max_memory_bytes'],
    maxOutputBytes: settings['plugins.max_output_bytes'],
    maxLogBytes,
  };
  const timeoutMs = settings['plugins.timeout_ms'];
  const maxHostCalls = settings['plugins.max_calls'];
  const usesThread = settings['plugins.run_on'] === 'traffic_thread';
  let sandbox: ScriptSandbox | undefined;
  const getSandbox = () => (sandbox ??= loadSandbox().createScriptSandbox(limits, () => performance.now()));
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
        onThread: usesThread ? loadImage(getSandbox(), set) : undefined,
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
  /** Undefined where workers run the set. */
  readonly onThread: LoadedImage | undefined;
}

/** Loaded scripts in the sandbox of the traffic thread. */
interface LoadedImage {
  readonly sandbox: ScriptSandbox;
  readonly image: GuestImage;
}

const loadImage = (sandbox: ScriptSandbox, set: GuestSet): LoadedImage => ({
  sandbox,
  image: sandbox.load(set, loadTimeoutMs),
});

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
  let workerCalls = onThread ? 0 : Number.POSITIVE_INFINITY;
  let loadFault: PluginError | undefined;

  const remaining = ({ deadline }: CallState) => Math.max(0, deadline - performance.now());

  function runOnThread(state: CallState) {
    const outcome = onThread!.sandbox.run(onThread!.image, {
      ...state,
      sliceMs: threadSliceMs,
      minCpuMs: threadSliceMs,
    });
    if (outcome.kind === 'interrupted') workerCalls = callsOnWorker;
    return outcome;
  }

  async function runOnWorker(state: CallState) {
    if (loadFault) throw loadFault;
    workerCalls--;
    const call = { ...state, sliceMs: remaining(state), minCpuMs: 0 };
    const outcome = await pool.run(set, call, startMs => {
      state.deadline += startMs;
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
        outcome = workerCalls > 0 ? await runOnWorker(state) : runOnThread(state);
      } else outcome = await runOnWorker(state);
    }
  }

  return {
    async check() {
      if (onThread) return;
      const outcome = await runOnWorker(createState({ head: checkCall, body: '' }, clock, timeoutMs));
      if (outcome.kind === 'failed') throw toError(outcome.fault, outcome.logs);
    },
    run(input, host) {
      const state = createState(input, clock, timeoutMs);
      if (workerCalls > 0) return runOnWorker(state).then(outcome => continueCall(state, host, outcome));
      const outcome = runOnThread(state);
      if (outcome.kind === 'result') return outcome;
      return continueCall(state, host, outcome);
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
