/** Differences between the JSON Schema drafts. */
export interface Dialect {
  /** Keywords beside `$ref` apply. */
  readonly allowsRefSiblings: boolean;
  /** Keyword that identifies a schema; undefined where there is none. */
  readonly id: 'id' | '$id' | undefined;
  /** An array in `items` applies to the first items, and `additionalItems` to the rest. */
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

/** Dialect of `$schema`; draft 7 by default, which covers older keywords too. */
export function detectDialect(name: unknown): Dialect {
  const text = typeof name === 'string' ? name : '';
  return byName.find(([pattern]) => pattern.test(text))?.[1] ?? draft7;
}

/** Dialect of the schemas of an OpenAPI document. */
export const openApiDialect = (version: unknown): Dialect =>
  typeof version === 'string' && /^3\.[1-9]/.test(version)
    ? draft2020
    : { allowsRefSiblings: false, id: undefined, tupleItems: false, nullable: true };
