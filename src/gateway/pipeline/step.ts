import type { Model, VersionModel } from '#definition/model.ts';
import type { StepHooks } from './exchange.ts';
import type { PipelineServices } from './services.ts';

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
