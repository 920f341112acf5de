/** What differs between the languages schemas are written in. Everything else means the same in all of them. */
export interface Dialect {
  /** What stands beside a `$ref` counts too. */
  readonly allowsRefSiblings: boolean;
  /** The member that names a schema; none where names do not exist. */
  readonly id: 'id' | '$id' | undefined;
  /** A list in `items` is the beginning of an array, and `additionalItems` is about the rest. */
  readonly tupleItems: boolean;
  readonly nullable: boolean;
}

const draft7: Dialect = { allowsRefSiblings: false, id: '$id', tupleItems: true, nullable: false };
const draft2019: Dialect = { ...draft7, allowsRefSiblings: true };
const draft2020: Dialect = { ...draft2019, tupleItems: false };

const byName: readonly [RegExp, Dialect][] = [
  [/draft-0?[34]\b/, { ...draft7, id: 'id' }],
  [/draft-0?[67]\b/, draft7],
  [/2019-09/, draft2019],
  [/2020-12|spec\.openapis\.org\/oas\/3\.1/, draft2020],
];

/** A schema that does not say is taken for draft 7, which reads what older ones say too. */
export function detectDialect(name: unknown): Dialect {
  const text = typeof name === 'string' ? name : '';
  return byName.find(([pattern]) => pattern.test(text))?.[1] ?? draft7;
}

/** The dialect of the schemas in an OpenAPI document. */
export const openApiDialect = (version: unknown): Dialect =>
  typeof version === 'string' && /^3\.[1-9]/.test(version)
    ? draft2020
    : { allowsRefSiblings: false, id: undefined, tupleItems: false, nullable: true };
