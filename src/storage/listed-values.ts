import { type RawBuilder, sql } from 'kysely';
import type { Records } from './records.ts';

/**
 * Subquery with the values of a list, for `in` and `not in`. The list is bound as one JSON parameter: engines limit the
 * number of bound values of a statement, SQLite to 32,766.
 */
export const selectListed = ({ engine }: Pick<Records, 'engine'>, values: readonly string[]): RawBuilder<string> =>
  engine === 'postgres'
    ? sql<string>`(select jsonb_array_elements_text(${JSON.stringify(values)}::text::jsonb))`
    : sql<string>`(select value from json_each(${JSON.stringify(values)}))`;
