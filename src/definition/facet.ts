import type { z } from 'zod';

/**
 * An API definition has two wire formats and one model. A facet is one part of the model: its fields are rows, each
 * with the model's name, a rule with its default, a description, and its location in both formats. Validation, the
 * model, both conversions, the JSON Schemas and the documentation are derived from these rows.
 */
export type DefinitionFormat = 'classic' | 'oas';

/** Codec of a field in one format. Everything left out is the plain case: the value as the rule has it. */
export interface FieldCodec {
  /** Dotted path below the facet, or from the top with a leading `/`; of several the first is written, all are read. */
  readonly path: string | readonly string[];
  readonly schema?: z.ZodType;
  /** Value of an absent member in this format, where it differs from the rule's default. */
  readonly valueWhenAbsent?: unknown;
  readonly decode?: (wire: unknown) => unknown;
  readonly encode?: (value: unknown) => unknown;
}

/** Left out: the field's own name. `null`: this format cannot express it. */
export type FieldLocation = string | readonly string[] | FieldCodec | null;

interface FieldBase {
  readonly about: string;
  readonly classic?: FieldLocation;
  readonly oas?: FieldLocation;
  /** For an `enabled` field: siblings of which at least one must be set for it to have an effect. */
  readonly requiresAnyOf?: readonly string[];
  readonly interpolation?: Interpolation;
  readonly secret?: Secrecy;
}

/**
 * Interpolation of the texts of a field. `secret`: the whole text may reference a secret. `variables`: it may contain
 * variables and secrets. `secret or variables`: either. `nothing`: the author's own, such as a schema or a template. A
 * list: of each object, the members of these names may reference a secret. Left out: a reference to a secret is an
 * error.
 */
export type Interpolation = 'secret' | 'variables' | 'secret or variables' | 'nothing' | readonly string[];

/**
 * Secrets are sealed in the database and masked for readers. `all`: every text of the value. `named`: the texts of a
 * free-form value whose member has the name of a secret.
 */
export type Secrecy = 'all' | 'named';

export interface PlainField extends FieldBase {
  readonly rule: z.ZodType;
}
export interface ListField extends FieldBase {
  readonly list: Fields;
}
export interface MapField extends FieldBase {
  readonly map: Fields;
}
export type Field = PlainField | ListField | MapField;
export interface Fields {
  readonly [name: string]: Field;
}

export type ValueOf<F> = F extends { rule: infer Rule extends z.ZodType }
  ? z.output<Rule>
  : F extends { list: infer Items extends Fields }
    ? ValuesOf<Items>[]
    : F extends { map: infer Items extends Fields }
      ? Record<string, ValuesOf<Items>>
      : never;
export type ValuesOf<T extends Fields> = { -readonly [K in keyof T]: ValueOf<T[K]> };

/** Codec with every default resolved. Paths are lists of segments; a first segment with `@` is an anchor. */
export interface ResolvedCodec {
  readonly paths: readonly (readonly string[])[];
  readonly schema: z.ZodType | undefined;
  readonly valueWhenAbsent: unknown;
  readonly decode: (wire: unknown) => unknown;
  readonly encode: (value: unknown) => unknown;
}

export interface Row {
  readonly name: string;
  readonly about: string;
  readonly rule: z.ZodType | undefined;
  readonly items: { readonly kind: 'list' | 'map'; readonly rows: readonly Row[] } | undefined;
  readonly defaultValue: unknown;
  readonly requiresAnyOf: readonly string[];
  readonly interpolation: Interpolation | undefined;
  readonly secret: Secrecy | undefined;
  readonly classic: ResolvedCodec | null;
  readonly oas: ResolvedCodec | null;
}

/** Of several the first is written, all are read. */
export type FacetLocation = string | readonly string[] | null;

export interface FacetOptions<T extends Fields> {
  readonly name: string;
  readonly about: string;
  /** Location of the facet: a dotted path, `''` for the top, an anchor such as `@version`, or `null` for none. */
  readonly classic: FacetLocation;
  readonly oas: FacetLocation;
  readonly fields: T;
  /** Default for its fields. */
  readonly interpolation?: Interpolation;
  /** Converted only when enabled. Disabled settings are preserved verbatim under `x-gw-classic` or `x-gw-oas`. */
  readonly convertsOnlyWhenEnabled?: true;
  /** Joins fields of one format that together correspond to other fields of the other format. */
  readonly lens?: Lens;
}

export type Values = Record<string, unknown>;

export interface Lens {
  /** Fields that exist in one format and that the lens converts. */
  readonly fields: readonly string[];
  /** Derives the fields of the other format from those that were read. */
  readonly derive: (values: Values, from: DefinitionFormat) => Values;
}

export interface Facet<T extends Fields = Fields> extends FacetOptions<T> {
  readonly rows: readonly Row[];
}

export function facet<const T extends Fields>(options: FacetOptions<T>): Facet<T> {
  return { ...options, rows: buildRows(options.fields, options.classic, options.oas, options.interpolation) };
}

function buildRows(
  fields: Fields,
  classic: FacetLocation,
  oas: FacetLocation,
  interpolation: Interpolation | undefined,
): Row[] {
  return Object.entries(fields).map(([name, field]) => buildRow(name, field, classic, oas, interpolation));
}

function buildRow(
  name: string,
  field: Field,
  classic: FacetLocation,
  oas: FacetLocation,
  inherited: Interpolation | undefined,
): Row {
  const rule = 'rule' in field ? field.rule : undefined;
  const items =
    'list' in field
      ? { kind: 'list' as const, rows: buildRows(field.list, '', '', inherited) }
      : 'map' in field
        ? { kind: 'map' as const, rows: buildRows(field.map, '', '', inherited) }
        : undefined;
  const defaultValue = rule ? rule.parse(undefined) : items?.kind === 'map' ? {} : [];
  const resolve = (location: FieldLocation | undefined, base: FacetLocation) =>
    resolveCodec(name, location, base, defaultValue);
  return {
    name,
    about: field.about,
    rule,
    items,
    defaultValue,
    requiresAnyOf: field.requiresAnyOf ?? [],
    interpolation: field.interpolation ?? inherited,
    secret: field.secret,
    classic: resolve(field.classic, classic),
    oas: resolve(field.oas, oas),
  };
}

const identity = (value: unknown) => value;

function resolveCodec(name: string, location: FieldLocation | undefined, base: FacetLocation, defaultValue: unknown) {
  if (location === null || (location === undefined && base === null)) return null;
  const codec: FieldCodec = isCodec(location) ? location : { path: location ?? name };
  const bases = toList(base ?? '');
  return {
    paths: toList(codec.path).flatMap(path =>
      path.startsWith('/') ? [splitPath(path.slice(1))] : bases.map(above => splitPath(joinPath(above, path))),
    ),
    schema: codec.schema,
    valueWhenAbsent: 'valueWhenAbsent' in codec ? codec.valueWhenAbsent : defaultValue,
    decode: codec.decode ?? identity,
    encode: codec.encode ?? identity,
  };
}

const isCodec = (location: FieldLocation | undefined): location is FieldCodec =>
  typeof location === 'object' && location !== null && !Array.isArray(location);
const toList = (one: string | readonly string[]) => (typeof one === 'string' ? [one] : one);
const joinPath = (base: string, path: string) => (base === '' ? path : `${base}.${path}`);
const splitPath = (path: string) => path.split('.');
