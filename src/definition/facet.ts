import type { z } from 'zod';

/**
 * A definition has two wire forms and one meaning. A facet is one part of that meaning: its fields are rows, each with
 * our own name, a rule with its default, what it means, and where it stands in both forms. Checking, the model,
 * both conversions, the JSON Schemas and the documentation are walks over these rows.
 */
export type DefinitionFormat = 'classic' | 'oas';

/** Where and how a field stands in one form. What is left out is the plain case: the value as the rule has it. */
export interface FieldCodec {
  /** Dotted path below the facet, or from the top of the form with a leading `/`; several: the first is written, all are read. */
  readonly path: string | readonly string[];
  readonly schema?: z.ZodType;
  /** What silence means in this form, where that differs from the rule's default. */
  readonly absent?: unknown;
  readonly read?: (wire: unknown) => unknown;
  readonly write?: (value: unknown) => unknown;
}

/** Left out: the field's own name. `null`: this form cannot say it. */
export type FieldLocation = string | readonly string[] | FieldCodec | null;

interface FieldBase {
  readonly about: string;
  readonly classic?: FieldLocation;
  readonly oas?: FieldLocation;
  /** For an `enabled` field: the neighbours of which one at least must say something for it to mean anything. */
  readonly needs?: readonly string[];
  readonly reads?: Interpolation;
  readonly secret?: Secrecy;
}

/**
 * What a text of the field may name. `secret`: the whole text may name a secret. `variables`: it may hold variables and secrets
 * among other text. `secret or variables`: either of the two. `nothing`: it is the author's own, such as a schema or a template.
 * A list: of each object, the members of these names may name a secret. Left out: it names nothing, and a text that names a
 * secret is an error.
 */
export type Interpolation = 'secret' | 'variables' | 'secret or variables' | 'nothing' | readonly string[];

/**
 * Whether the value lets others in: it is then sealed in the database and masked for readers. `all`: every text in it.
 * `named`: the texts of a free-form value whose member has the name of a secret.
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

/** A wire with nothing left out. Paths are lists of segments; a first segment with `@` is an anchor. */
export interface ResolvedCodec {
  readonly paths: readonly (readonly string[])[];
  readonly schema: z.ZodType | undefined;
  readonly absent: unknown;
  readonly read: (wire: unknown) => unknown;
  readonly write: (value: unknown) => unknown;
}

export interface Row {
  readonly name: string;
  readonly about: string;
  readonly rule: z.ZodType | undefined;
  readonly items: { readonly kind: 'list' | 'map'; readonly rows: readonly Row[] } | undefined;
  readonly defaultValue: unknown;
  readonly needs: readonly string[];
  readonly reads: Interpolation | undefined;
  readonly secret: Secrecy | undefined;
  readonly classic: ResolvedCodec | null;
  readonly oas: ResolvedCodec | null;
}

/** Several: the first is written, all are read. */
export type FacetLocation = string | readonly string[] | null;

export interface FacetOptions<T extends Fields> {
  readonly name: string;
  readonly about: string;
  /** Where the facet stands: a dotted path, `''` for the top, an anchor such as `@version`, or `null` for nowhere. */
  readonly classic: FacetLocation;
  readonly oas: FacetLocation;
  readonly fields: T;
  /** For the fields that say nothing of it themselves. */
  readonly reads?: Interpolation;
  /** Carried over only while it is on: off, it waits in the bag of its form, so that it stays off. */
  readonly convertsOnlyWhenEnabled?: true;
  /** Fields of one form that say together what other fields of the other form say. */
  readonly lens?: Lens;
}

export type Values = Record<string, unknown>;

export interface Lens {
  /** The one-sided fields this lens carries over. */
  readonly carries: readonly string[];
  /** Completes what was read from one form, so that the fields of the other form are filled too. */
  readonly complete: (values: Values, from: DefinitionFormat) => Values;
}

export interface Facet<T extends Fields = Fields> extends FacetOptions<T> {
  readonly rows: readonly Row[];
}

export function facet<const T extends Fields>(options: FacetOptions<T>): Facet<T> {
  return { ...options, rows: buildRows(options.fields, options.classic, options.oas, options.reads) };
}

function buildRows(
  fields: Fields,
  classic: FacetLocation,
  oas: FacetLocation,
  reads: Interpolation | undefined,
): Row[] {
  return Object.entries(fields).map(([name, field]) => buildRow(name, field, classic, oas, reads));
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
    needs: field.needs ?? [],
    reads: field.reads ?? inherited,
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
    absent: 'absent' in codec ? codec.absent : defaultValue,
    read: codec.read ?? identity,
    write: codec.write ?? identity,
  };
}

const isCodec = (location: FieldLocation | undefined): location is FieldCodec =>
  typeof location === 'object' && location !== null && !Array.isArray(location);
const toList = (one: string | readonly string[]) => (typeof one === 'string' ? [one] : one);
const joinPath = (base: string, path: string) => (base === '' ? path : `${base}.${path}`);
const splitPath = (path: string) => path.split('.');
