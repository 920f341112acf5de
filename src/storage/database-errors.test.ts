import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { problems } from '#base/problems.ts';
import { toDatabaseProblem } from './database-errors.ts';

const sqliteError = (errcode: number) => Object.assign(new Error('reason'), { code: 'ERR_SQLITE_ERROR', errcode });
const postgresError = (code: string) => Object.assign(new Error('reason'), { code });

describe('database errors', () => {
  const statuses = { busy: 503, conflict: 409, damaged: 500, full: 507, read_only: 500, unavailable: 503 };
  const rows: [name: keyof typeof statuses, errors: Error[]][] = [
    ['conflict', [sqliteError(1555), sqliteError(2067), postgresError('23505')]],
    ['busy', [...[5, 6, 5 | (2 << 8)].map(sqliteError), ...['40001', '40P01', '55P03'].map(postgresError)]],
    ['full', [sqliteError(13), sqliteError(4874), postgresError('53100')]],
    ['read_only', [...[8, 10, 14, 14 | (1 << 8)].map(sqliteError), ...['25006', '42501'].map(postgresError)]],
    ['damaged', [sqliteError(11), sqliteError(26), ...['58030', 'XX001', 'XX002'].map(postgresError)]],
    ['unavailable', ['08006', '57P01', '53300', 'ECONNRESET', 'EPIPE'].map(postgresError)],
    ['unavailable', [new Error('Connection terminated unexpectedly'), new Error('Query read timeout')]],
  ];
  for (const [name, errors] of rows)
    test(`errors of both drivers map to database.${name} with its status and their cause`, () => {
      for (const error of errors) {
        const mapped = toDatabaseProblem(error);
        assert.deepEqual([mapped?.code, mapped?.status], [`database.${name}`, statuses[name]], JSON.stringify(error));
        assert.equal(mapped?.cause, error);
      }
    });

  test('a database problem is returned as it is, a problem of another module is not a database problem', () => {
    const mapped = toDatabaseProblem(sqliteError(5));
    assert.equal(toDatabaseProblem(mapped), mapped);
    const other = problems('other', { odd: { status: 500, message: 'Query read timeout' } });
    assert.equal(toDatabaseProblem(other.odd({ cause: sqliteError(5) })), undefined);
  });

  test('an error that only resembles a driver error is not mapped', () => {
    for (const error of [
      sqliteError(1),
      sqliteError(1 | (13 << 8)),
      postgresError('42703'),
      new Error('a Query read timeout'),
      postgresError('Query read timeout'),
      null,
    ])
      assert.equal(toDatabaseProblem(error), undefined);
  });
});
