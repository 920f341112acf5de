import type { MemoryImage } from './memory-image.ts';

/** One script of a plugin set. */
export interface GuestFile {
  readonly name: string;
  readonly source: string;
  /** Wraps the script in a function of its own, so that names of two scripts do not collide; the hook it defines. */
  readonly exports?: string;
}

/** Scripts of an API, the hooks that they define, and the data that every hook gets. */
export interface GuestSet {
  readonly owner: string;
  readonly files: readonly GuestFile[];
  readonly hooks: readonly string[];
  readonly data: unknown;
  /** Modules, loaded after the files. */
  readonly modules?: GuestModules;
}

export interface GuestModules {
  /** By the names that importers resolve to. */
  readonly files: readonly GuestFile[];
  readonly hooks: readonly GuestModuleHook[];
}

/** Hook that is an export of a module. */
export interface GuestModuleHook {
  /** Name in calls. */
  readonly hook: string;
  readonly module: string;
  readonly exportName: string;
}

/** Call that runs no hook: it loads the scripts. See `guest-prelude.ts`. */
export const checkCall = 'check';

/** Images that a thread keeps. */
export const maxImages = 32;

/** Loaded plugin set: state of the guest after all scripts ran. Every call starts from it. */
export interface GuestImage {
  /** Organisation: images of two owners never share an instance. */
  readonly owner: string;
  readonly memory: MemoryImage;
  readonly runtime: number;
  readonly context: number;
  /** Function that runs a hook. */
  readonly run: number;
  /** Buffer for the text of a call. */
  readonly buffer: number;
}

/** Result of one run of a guest. */
export type GuestOutcome =
  | { readonly kind: 'result'; readonly text: string; readonly logs: readonly string[] }
  /** The guest requires the result of a host function that waits; run it again with this result. */
  | { readonly kind: 'call'; readonly name: string; readonly argument: string }
  /** The time slice ended. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly fault: GuestFault; readonly logs: readonly string[] };

export interface GuestFault {
  readonly type: 'syntax' | 'runtime' | 'memory' | 'output' | 'load';
  readonly message: string;
  /** `file:line` where it is known. */
  readonly at: string;
  /** Type of the failure where the script did not load. */
  readonly loadType?: GuestFault['type'];
}

/** True for an outcome at a limit of memory, stack or output. */
export const isAtLimit = (outcome: GuestOutcome): boolean =>
  outcome.kind === 'failed' && (outcome.fault.type === 'memory' || outcome.fault.type === 'output');

/** One call of a guest. */
export interface GuestCall {
  /** First line: seed of `Math.random`. See `guest-prelude.ts` for the rest. */
  readonly head: string;
  readonly body: string;
  /** Time that `Date` reads, the same in every run of a call. */
  readonly nowMs: number;
  /** Results of the host functions that earlier runs of this call required, in order. */
  readonly results: readonly string[];
  readonly sliceMs: number;
  /** Behind the time slice, processor time that the run gets in any case; 0 for the time of the clock alone. */
  readonly minCpuMs: number;
  /** Processor time of the thread from which that counts. Without it, from the first check behind the time slice. */
  readonly startCpuMs?: number;
}

/** Results up to this length are parsed wherever they are; the values of longer ones are counted on a worker. */
export const maxUncountedTextLength = 65_536;

export interface SandboxLimits {
  readonly maxMemoryBytes: number;
  readonly maxOutputBytes: number;
  readonly maxLogBytes: number;
}

/** A script does not load. */
export class GuestLoadError extends Error {
  readonly fault: GuestFault;

  constructor(fault: GuestFault) {
    super(fault.at === '' ? fault.message : `${fault.at}: ${fault.message}`);
    this.fault = fault;
  }
}
