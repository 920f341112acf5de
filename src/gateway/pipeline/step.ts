import type { Endpoints } from '#definition/endpoints/endpoint-lists.ts';
import type { Model, VersionModel } from '#definition/model.ts';
import type { StepHooks } from './exchange.ts';

/** Parts of a definition: of the API, of the version, and endpoint lists of the version. */
interface Parts {
  readonly api?: readonly (keyof Model)[];
  readonly version?: readonly Exclude<keyof VersionModel, 'endpoints'>[];
  readonly endpoints?: readonly (keyof Endpoints)[];
}

/** The parts that a step reads: those that configure it, and others that it reads also. */
export interface StepReads extends Parts {
  readonly also?: Parts | 'whole definition';
}

/** Parts that every step may read undeclared: they identify an API and its versions, and configure no step. */
type IdentityPart = 'identity' | 'format' | 'versioning' | 'versionData';
type VersionIdentityPart = 'key' | 'version';

type NamesIn<Parts, Kind extends string> = Parts extends { readonly [K in Kind]: readonly (infer Name)[] }
  ? Name
  : never;

/** Names of one kind that `Reads` declares, out of `All`. */
type Declared<Reads, Kind extends string, All> = Reads extends { readonly also: 'whole definition' }
  ? All
  : Extract<NamesIn<Reads, Kind> | (Reads extends { readonly also: infer Also } ? NamesIn<Also, Kind> : never), All>;

/** Context that a step is built from: the parts that it declares in `Reads`, and the services that it uses. */
export interface StepContext<Services = unknown, Reads extends StepReads = Record<never, never>> {
  readonly model: Pick<Model, IdentityPart | Declared<Reads, 'api', keyof Model>>;
  readonly version: Pick<VersionModel, VersionIdentityPart | Declared<Reads, 'version', keyof VersionModel>> & {
    readonly endpoints: Pick<Endpoints, Declared<Reads, 'endpoints', keyof Endpoints>>;
  };
  readonly services: Services;
}

interface StepOf<Context> {
  readonly name: string;
  /** The parts that the step reads; it can read no others. */
  readonly reads?: StepReads;
  /** The hooks depend on settings only, so chains of such steps are shared between definitions. */
  readonly isDefinitionIndependent?: true;
  /**
   * Undefined when the definition does not use the step: it is then not in the chain. Throws `ApiCompileError` when the
   * step cannot implement the definition.
   */
  readonly build: (context: Context) => StepHooks | undefined;
}

/** A step of the chain, with exactly the services that it uses and the parts of a definition that it reads. */
export type Step<Services = unknown, Reads extends StepReads = Record<never, never>> = StepOf<
  StepContext<Services, Reads>
> &
  (Reads extends Record<string, never> ? unknown : { readonly reads: Reads });

/** Whole definition and all services of a chain, from which any step can be built. */
export interface ChainContext<Services> {
  readonly model: Model;
  readonly version: VersionModel;
  readonly services: Services;
}

/** Any step that can be built with `Services`. */
export type ChainStep<Services> = StepOf<ChainContext<Services>>;

/** The definition cannot be compiled. The API is kept, its status has the reason, and its requests get 503. */
export class ApiCompileError extends Error {}
