import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Records } from './records.ts';

/**
 * Subquery with the values of a list, for `in` and `not in`. The list is bound as one JSON parameter: engines limit the
 * number of bound values of a statement, SQLite to 32,766.
 */
export const selectListed = ({ engine }: Pick<Records, 'engine'>, values: readonly string[]): RawBuilder<string> =>
  engine === 'postgres'
    ? sql<string>`(select jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb))`
    : sql<string>`(select value from json_each(${JSON.stringify(values)}))`;

/** Condition: the list `member` of the JSON text in a column has a text; false without the member. */
export const hasListedMember = (
  { engine }: Pick<Records, 'engine'>,
  column: string,
  member: string,
  text: string,
): RawBuilder<SqlBool> =>
  engine === 'postgres'
    ? sql<SqlBool>`coalesce(
        cast(${sql.ref(column)} as jsonb) -> cast(${member} as text) @> to_jsonb(cast(${text} as text)), false)`
    : sql<SqlBool>`exists (select 1 from json_each(${sql.ref(column)}, ${`$.${member}`}) where value = ${text})`;
