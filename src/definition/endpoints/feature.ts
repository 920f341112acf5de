import type { Facet, Fields, Lens, ValuesOf } from '../facet.ts';
import { facet } from '../facet.ts';
import { negation } from '../field-codecs.ts';
import { flagRule, textRule } from '../rules.ts';

/**
 * Endpoint feature. The classic format has a list per feature in each version, every entry with its path and method;
 * the OpenAPI format has the features of each operation, by operation id.
 */
export interface FeatureOptions<T extends Fields> {
  readonly name: string;
  readonly about: string;
  /** List in `extended_paths`, or null. */
  readonly classic: string | null;
  /** Member of an operation, or null. */
  readonly oas: string | null;
  /** The member is a list of which only the first entry counts. */
  readonly oasList?: true;
  readonly fields: T;
  readonly lens?: Lens;
}

const locationFields = {
  path: { rule: textRule, oas: null, about: 'Path below the listen path; may contain `{name}` or a pattern.' },
  method: { rule: textRule, oas: null, about: 'HTTP method; empty for any where the list allows that.' },
};
const enabledField = {
  enabled: { rule: flagRule, classic: negation('disabled'), about: 'Enables the entry.' },
};

type EndpointFields = typeof locationFields & typeof enabledField;
export type FeatureEntry<T extends Fields> = ValuesOf<T & EndpointFields>;

export interface Feature<T extends Fields = Fields> extends Omit<FeatureOptions<T>, 'fields'> {
  readonly entry: Facet<T & EndpointFields>;
}

export function feature<const T extends Fields>(options: FeatureOptions<T>): Feature<T> {
  const { name, about, fields, lens } = options;
  const entry = facet({
    name,
    about,
    classic: options.classic === null ? null : '',
    oas: options.oas === null ? null : '',
    fields: { ...locationFields, ...enabledField, ...fields },
    ...(lens ? { lens } : {}),
  });
  return { ...options, entry };
}
