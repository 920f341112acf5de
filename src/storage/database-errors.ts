import { describeError } from '#base/describe-error.ts';
import { Problem, type ProblemFactory, problems } from '#base/problems.ts';

export const problem = problems('database', {
  conflict: { status: 409, message: 'An object with the same identity already exists' },
  too_many: { status: 400, message: 'More than {maxItems} items: request them in pages' },
  busy: { status: 503, message: 'Another request is changing the same objects: nothing was changed, try again' },
  full: { status: 507, message: 'The disk is full: nothing was changed' },
  read_only: { status: 500, message: 'The database is read-only: {reason}' },
  damaged: { status: 500, message: 'The database is damaged ({reason}): restore a backup' },
  unavailable: { status: 503, message: 'The database is unavailable: {reason}' },
});

/** Maps a driver error of either engine to a problem; undefined for a bug of ours. */
export function toDatabaseProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error.code.startsWith('database.') ? error : undefined;
  const { errcode, code } = (error ?? {}) as { errcode?: unknown; code?: unknown };
  const createProblem =
    typeof errcode === 'number' ? fromSqliteCode(errcode) : fromPostgresCode(code, describeError(error));
  return createProblem?.({ detail: { reason: describeError(error) }, cause: error });
}

/** Connection failure, for any reason: address, password, database name, certificate. */
export const toUnreachableProblem = (error: unknown): Problem =>
  problem.unavailable({ detail: { reason: describeError(error) }, cause: error });

/** Query before the first connection. The message reaches any client, so it names no address. */
export const createNotConnectedProblem = (): Problem =>
  problem.unavailable({ detail: { reason: 'no connection since the start' } });

/** Primary result codes: the low byte of an extended one. */
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

/** Extended result codes that differ from their primary code: unique violations, and no space for the WAL index. */
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
/** pg reports a connection that breaks during a query by message only, without a code. */
const brokenConnection =
  /^(Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed)/;

function fromPostgresCode(code: unknown, message: string) {
  if (typeof code !== 'string') return brokenConnection.test(message) ? problem.unavailable : undefined;
  return postgresCodes.find(([pattern]) => pattern.test(code))?.[1];
}
