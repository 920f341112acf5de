import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RefusalCode } from './refusals.ts';
import type { PipelineServices } from './services.ts';

/** Undefined continues with the next step; a response ends the request phase. */
export type StepResult = GatewayResponse | undefined;

/** Hooks of a step for one version of an API, built when the definition is loaded. */
export interface StepHooks {
  request?(call: Exchange): MaybePromise<StepResult>;
  /** Response phase, in the same order; may change the response. */
  response?(call: Exchange, response: GatewayResponse): MaybePromise<void>;
  /** True when `response` reads the whole body: the response is then buffered, within a bound. */
  buffersResponse?(call: Exchange, response: GatewayResponse): boolean;
  /** Body capture: asks for a copy of the body after all response hooks ran; the response is not delayed. */
  captureBody?(call: Exchange, response: GatewayResponse): BodyCapture | undefined;
  /** Result of the upstream request. */
  onUpstreamResult?(call: Exchange, result: UpstreamResult): void;
  /** End of the exchange, whatever the outcome; also without a response. */
  onFinish?(call: Exchange): void;
}

/** Copy of a response body that streams through. */
export interface BodyCapture {
  /** A longer body is not captured. */
  readonly maxBytes: number;
  /** Called exactly once; undefined when the body was longer or incomplete. */
  complete(bytes: Buffer | undefined): void;
}

export interface UpstreamResult {
  /** 0 without a response. */
  readonly status: number;
  /** Reason when there was no response. */
  readonly failure: RefusalCode | '';
}

export interface StepContext<Services = PipelineServices> {
  readonly model: Model;
  readonly version: VersionModel;
  readonly services: Services;
}

/** A step of the chain. `Services` are those it uses. */
export interface Step<Services = PipelineServices> {
  readonly name: string;
  /** The hooks depend on settings only, so chains of such steps are shared between definitions. */
  readonly isDefinitionIndependent?: true;
  /**
   * Undefined when the definition does not use the step: it is then not in the chain. Throws `ApiCompileError` when the
   * step cannot do what the definition asks for.
   */
  build(context: StepContext<Services>): StepHooks | undefined;
}

/** The definition cannot be compiled. The API is kept, its status says why, and its requests get 503. */
export class ApiCompileError extends Error {}
