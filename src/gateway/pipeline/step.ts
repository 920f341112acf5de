import type { Model, VersionModel } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalCode } from './refusals.ts';
import type { StepServices } from './step-services.ts';

/** Nothing goes on; an answer ends the walk. A promise is waited for only where there is one. */
export type StepResult = GatewayResponse | undefined;
export type MaybePromise<T> = T | Promise<T>;

/** What a step does for one version of one API, decided when the definition is loaded. */
export interface StepHooks {
  request?(call: Exchange): MaybePromise<StepResult>;
  /** On the way out, in the same order; may change the answer. */
  response?(call: Exchange, response: GatewayResponse): MaybePromise<void>;
  /** Whether `response` needs the whole body of this answer. It is then held back until it is complete, within a bound. */
  buffersResponse?(call: Exchange, response: GatewayResponse): boolean;
  /** Whether a copy of the body is wanted when `response` has run everywhere; the answer goes out meanwhile. */
  captureBody?(call: Exchange, response: GatewayResponse): BodyCapture | undefined;
  /** What became of the call at the upstream. */
  onUpstreamResult?(call: Exchange, result: UpstreamResult): void;
  /** The call is over, whoever answered it, or nobody. */
  onFinish?(call: Exchange): void;
}

/** Takes a copy of a body that passes by. */
export interface BodyCapture {
  /** Bytes; of a longer body nothing is kept. */
  readonly maxBytes: number;
  /** Undefined when the body was longer, or broke off. Called once, in every case. */
  complete(bytes: Buffer | undefined): void;
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
  readonly services: StepServices;
}

export interface Step {
  readonly name: string;
  /** What it does depends on the settings alone, not on the definition. */
  readonly isDefinitionIndependent?: true;
  /**
   * Undefined when the definition asks nothing of it: the step is then not in the chain. Throws `Unservable` when it
   * cannot do what is asked.
   */
  build(context: StepContext): StepHooks | undefined;
}

/** The definition asks for something that is not there. It is kept, reported, and its calls get 503. */
export class ApiCompileError extends Error {}
