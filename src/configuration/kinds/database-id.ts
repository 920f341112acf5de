import { z } from 'zod';
import { createInvalidProblem } from '#operations/validation-error.ts';

/** Database id in the form of generated ones; an installation that an export is applied to keeps it. */
export const databaseId = z.string().regex(/^[0-9a-f]{24}$/, 'must be 24 hexadecimal digits');

/** The database id of a stored object does not change. */
export function ensureSameDatabaseId(given: string | undefined, stored: string): void {
  if (given === undefined || given === stored) return;
  throw createInvalidProblem([{ path: 'database_id', message: `is ${stored} and does not change` }]);
}
