import { type Problem, problems } from '#base/problems.ts';

export const problem = problems('database', {
  conflict: { status: 409, message: 'An object with the same identity already exists' },
  too_many: { status: 400, message: 'More than {most} items: ask for them page by page' },
  full: { status: 507, message: 'The disk is full: nothing was changed' },
  read_only: { status: 500, message: 'The database cannot be written: {reason}' },
  away: { status: 503, message: 'The database does not answer: {reason}' },
});

/** What a database error means, on either engine; undefined for a fault of ours. */
export function databaseProblem(error: unknown): Problem | undefined {
  const { code, errcode, message } = (error ?? {}) as { code?: string; errcode?: number; message?: string };
  const detail = { reason: message ?? 'unknown' };
  const make = typeof errcode === 'number' ? sqliteMeaning(errcode) : postgresMeaning(code);
  return make?.({ detail, cause: error });
}

/** The low byte of an SQLite result code is its class. */
function sqliteMeaning(errcode: number) {
  const constraintUnique = 2067;
  const constraintPrimaryKey = 1555;
  if (errcode === constraintUnique || errcode === constraintPrimaryKey) return problem.conflict;
  const byClass: Record<number, typeof problem.full> = {
    5: problem.away,
    8: problem.read_only,
    10: problem.read_only,
    13: problem.full,
    14: problem.read_only,
    26: problem.read_only,
  };
  return byClass[errcode & 0xff];
}

function postgresMeaning(code: string | undefined) {
  if (code === '23505') return problem.conflict;
  if (code === '53100') return problem.full;
  if (code === '25006') return problem.read_only;
  const away = /^(08|57P0|53300|ECONN|ENOTFOUND|ETIMEDOUT|EAI_AGAIN|EPIPE|EHOSTUNREACH)/;
  return code !== undefined && away.test(code) ? problem.away : undefined;
}
