import { Problem, type ProblemFactory, problems } from '#base/problems.ts';

export const problem = problems('database', {
  conflict: { status: 409, message: 'An object with the same identity already exists' },
  too_many: { status: 400, message: 'More than {most} items: ask for them page by page' },
  busy: { status: 503, message: 'Others are changing the same objects: nothing was changed, try again' },
  full: { status: 507, message: 'The disk is full: nothing was changed' },
  read_only: { status: 500, message: 'The database cannot be written: {reason}' },
  damaged: { status: 500, message: 'The database is damaged ({reason}): put back a copy that is whole' },
  unavailable: { status: 503, message: 'The database does not answer: {reason}' },
});

/** What a database error means, on either engine; undefined for a fault of ours. */
export function toDatabaseProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error.code.startsWith('database.') ? error : undefined;
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown };
  const createProblem = typeof errcode === 'number' ? fromSqliteCode(errcode) : fromPostgresCode(code, reasonOf(error));
  return createProblem?.({ detail: { reason: reasonOf(error) }, cause: error });
}

/** PostgreSQL could not be reached at all, for whatever reason: address, password, name, certificate. */
export const toUnreachableProblem = (error: unknown): Problem =>
  problem.unavailable({ detail: { reason: reasonOf(error) }, cause: error });

/** Nobody may ask it yet. Told to anybody who does, so it names no address. */
export const createNotConnectedProblem = (): Problem =>
  problem.unavailable({ detail: { reason: 'it has not been reached since the start' } });

/** A name with several addresses fails with one error for each, and says nothing itself. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = (error ?? {}) as { message?: string; errors?: Error[]; code?: string };
  return message || errors?.map(each => each.message).join(', ') || code || 'unknown';
}

/** By the low byte of a result code, which is its class. */
const sqliteClasses: Readonly<Record<number, ProblemFactory>> = {
  5: problem.busy,
  6: problem.busy,
  8: problem.read_only,
  10: problem.read_only,
  11: problem.damaged,
  13: problem.full,
  14: problem.read_only,
  26: problem.damaged,
};

/** Whole result codes that mean something else than their class: identities that exist, no room for the index of the log. */
const sqliteCodes: Readonly<Record<number, ProblemFactory>> = {
  1555: problem.conflict,
  2067: problem.conflict,
  4874: problem.full,
};

const fromSqliteCode = (errcode: number) => sqliteCodes[errcode] ?? sqliteClasses[errcode & 0xff];

const postgresCodes: readonly [RegExp, ProblemFactory][] = [
  [/^23505$/, problem.conflict],
  [/^(40001|40P01|55P03)$/, problem.busy],
  [/^53100$/, problem.full],
  [/^(25006|42501)$/, problem.read_only],
  [/^(58030|XX001|XX002)$/, problem.damaged],
  [/^(08|57P0|53300|ECONNRESET|EPIPE)/, problem.unavailable],
];
/** A connection that breaks under a query is told by its message alone. */
const brokenConnection =
  /^(Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed)/;

function fromPostgresCode(code: unknown, message: string) {
  if (typeof code !== 'string') return brokenConnection.test(message) ? problem.unavailable : undefined;
  return postgresCodes.find(([pattern]) => pattern.test(code))?.[1];
}
