import type { Facet, Fields, Lens, ValuesOf } from '../facet.ts';
import { facet } from '../facet.ts';
import { inverted } from '../field-codecs.ts';
import { flag, text } from '../rules.ts';

/**
 * Something that can be said about one endpoint. The classic form keeps a list per feature in each version, every
 * entry with its path and method; the OpenAPI form keeps the features of each operation, by operation id.
 */
export interface FeatureGiven<T extends Fields> {
  readonly name: string;
  readonly about: string;
  /** The list in `extended_paths`, or null. */
  readonly classic: string | null;
  /** The member of an operation, or null. */
  readonly oas: string | null;
  /** The member of the operation is a list of which the first counts. */
  readonly oasList?: true;
  readonly fields: T;
  readonly lens?: Lens;
}

const place = {
  path: { rule: text, oas: null, about: 'The path, below the listen path; may hold {name} or a pattern.' },
  method: { rule: text, oas: null, about: 'The method; empty for any where the list allows that.' },
};
const onOff = {
  enabled: { rule: flag, classic: inverted('disabled'), about: 'Lets the entry count.' },
};

type PlaceFields = typeof place & typeof onOff;
export type Entry<T extends Fields> = ValuesOf<T & PlaceFields>;

export interface Feature<T extends Fields = Fields> extends Omit<FeatureGiven<T>, 'fields'> {
  readonly entry: Facet<T & PlaceFields>;
}

export function feature<const T extends Fields>(given: FeatureGiven<T>): Feature<T> {
  const { name, about, fields, lens } = given;
  const entry = facet({
    name,
    about,
    classic: given.classic === null ? null : '',
    oas: given.oas === null ? null : '',
    fields: { ...place, ...onOff, ...fields },
    ...(lens ? { lens } : {}),
  });
  return { ...given, entry };
}
