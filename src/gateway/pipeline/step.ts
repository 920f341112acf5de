import type { Model, VersionModel } from '#definition/model.ts';
import type { Answer } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalCode } from './refusals.ts';
import type { GatewayTools } from './step-services.ts';

/** Nothing goes on; an answer ends the walk. A promise is waited for only where there is one. */
export type Outcome = Answer | undefined;
export type Doing<T> = T | Promise<T>;

/** What a step does for one version of one API, decided when the definition is loaded. */
export interface Made {
  request?(call: Exchange): Doing<Outcome>;
  /** On the way out, in the same order; may change the answer. */
  response?(call: Exchange, given: Answer): Doing<void>;
  /** Whether `response` needs the whole body of this answer. It is then held back until it is complete, within a bound. */
  needsBody?(call: Exchange, given: Answer): boolean;
  /** Whether a copy of the body is wanted when `response` has run everywhere; the answer goes out meanwhile. */
  copy?(call: Exchange, given: Answer): BodyCopy | undefined;
  /** What became of the call at the upstream. */
  settled?(call: Exchange, result: UpstreamResult): void;
  /** The call is over, whoever answered it, or nobody. */
  ended?(call: Exchange): void;
}

/** Takes a copy of a body that passes by. */
export interface BodyCopy {
  /** Bytes; of a longer body nothing is kept. */
  readonly most: number;
  /** Undefined when the body was longer, or broke off. Called once, in every case. */
  done(bytes: Buffer | undefined): void;
}

export interface UpstreamResult {
  /** 0 when no answer came. */
  readonly status: number;
  /** Why none came. */
  readonly failure: RefusalCode | '';
}

export interface StepContext {
  readonly model: Model;
  readonly version: VersionModel;
  readonly tools: GatewayTools;
}

export interface Step {
  readonly name: string;
  /** What it does depends on the settings alone, not on the definition. */
  readonly common?: true;
  /**
   * Undefined when the definition asks nothing of it: the step is then not in the chain. Throws `Unservable` when it
   * cannot do what is asked.
   */
  make(context: StepContext): Made | undefined;
}

/** The definition asks for something that is not there. It is kept, reported, and its calls get 503. */
export class Unservable extends Error {}
