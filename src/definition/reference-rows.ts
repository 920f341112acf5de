import { z } from 'zod';
import { facets, features, versionFacets } from './definition.ts';
import type { DefinitionFormat, Facet, Fields, Row } from './facet.ts';
import { anyName, expandAnchor } from './wire-schema.ts';

/** Row of the definition reference: a field, its location in both formats, its rule and its meaning. */
export interface ReferenceRow {
  readonly facet: string;
  /** Description of the facet. */
  readonly facetAbout: string;
  readonly field: string;
  /** Null where the format cannot express it. */
  readonly classic: string | null;
  readonly oas: string | null;
  /** Format whose member is the negation of the field, such as `tags_disabled`. */
  readonly opposite: DefinitionFormat | null;
  readonly rule: string;
  readonly default: unknown;
  readonly about: string;
}

/** All rows, facet by facet, the entries of lists below their list. */
export function listReferenceRows(): ReferenceRow[] {
  const ofFacets = [...Object.values(facets), ...Object.values(versionFacets)].flatMap(facet =>
    buildLines((facet as unknown as Facet<Fields>).rows, facet, { classic: '', oas: '' }),
  );
  const ofFeatures = Object.values(features).flatMap(({ name, about, classic, oas, oasList, entry }) =>
    buildLines(
      (entry as unknown as Facet<Fields>).rows,
      { name: `endpoints.${name}`, about },
      {
        classic: `version_data.versions.${anyName}.extended_paths.${classic}[].`,
        oas: `middleware.operations.${anyName}.${oas}${oasList ? '[]' : ''}.`,
      },
    ).map(line => ({ ...line, ...(classic === null && { classic: null }), ...(oas === null && { oas: null }) })),
  );
  return [...ofFacets, ...ofFeatures].filter(({ classic, oas }) => classic !== null || oas !== null);
}

type ParentPaths = Readonly<Record<DefinitionFormat, string>>;
type Named = Pick<Facet, 'name' | 'about'>;

function buildLines(list: readonly Row[], facet: Named, above: ParentPaths, prefix = ''): ReferenceRow[] {
  return list.flatMap(row => {
    const line = buildLine(row, facet, above, prefix);
    if (!row.items) return [line];
    const step = row.items.kind === 'list' ? '[].' : `.${anyName}.`;
    const below = { classic: `${line.classic}${step}`, oas: `${line.oas}${step}` };
    const inner = buildLines(row.items.rows, facet, below, `${line.field}${step}`);
    return [
      line,
      ...inner.map(one => ({
        ...one,
        classic: line.classic === null ? null : one.classic,
        oas: line.oas === null ? null : one.oas,
      })),
    ];
  });
}

const formats: readonly DefinitionFormat[] = ['classic', 'oas'];

const buildLine = (row: Row, facet: Named, above: ParentPaths, prefix: string): ReferenceRow => ({
  facet: facet.name,
  facetAbout: facet.about,
  field: `${prefix}${row.name}`,
  classic: formatPath(row, 'classic', above),
  oas: formatPath(row, 'oas', above),
  opposite: row.defaultValue === false ? (formats.find(format => row[format]?.encode(true) === false) ?? null) : null,
  rule: describeRowRule(row),
  default: row.defaultValue,
  about: row.about,
});

function formatPath(row: Row, format: DefinitionFormat, above: ParentPaths): string | null {
  const path = row[format]?.paths[0];
  return path ? above[format] + expandAnchor(path).join('.') : null;
}

function describeRowRule(row: Row): string {
  if (row.items) return row.items.kind === 'list' ? 'list of objects' : 'map of objects';
  return describeRule(row.rule!);
}

/** Describes a rule in a few words. */
function describeRule(rule: z.ZodType): string {
  if (rule instanceof z.ZodDefault) return describeRule(rule.unwrap() as z.ZodType);
  if (rule instanceof z.ZodArray) return `list of ${describeRule(rule.element as z.ZodType)}`;
  if (rule instanceof z.ZodRecord) return `map of ${describeRule(rule.valueType as z.ZodType)}`;
  if (rule instanceof z.ZodUnion) return rule.options.map(one => describeRule(one as z.ZodType)).join(' or ');
  if (rule instanceof z.ZodEnum) return `one of ${rule.options.map(word => (word === '' ? 'empty' : word)).join(', ')}`;
  if (rule instanceof z.ZodLiteral) return [...rule.values].map(value => JSON.stringify(value)).join(' or ');
  if (rule instanceof z.ZodBoolean) return 'true or false';
  if (rule instanceof z.ZodNumber) return `${rule.isInt ? 'integer' : 'number'}${describeBounds(rule)}`;
  if (rule instanceof z.ZodISODateTime) return 'date and time (ISO 8601)';
  if (rule instanceof z.ZodString) return 'text';
  if (rule instanceof z.ZodObject) return 'object';
  return 'anything';
}

function describeBounds({ minValue, maxValue }: z.ZodNumber): string {
  const low = minValue !== null && minValue > Number.MIN_SAFE_INTEGER ? ` from ${minValue}` : '';
  const high = maxValue !== null && maxValue < Number.MAX_SAFE_INTEGER ? ` to ${maxValue}` : '';
  return low + high;
}
