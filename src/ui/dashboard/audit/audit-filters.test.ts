import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findHistory, findRecordedRevision } from './audit-filters.ts';

const record = { action: 'updatePolicy', user: 'ada@example.org', timestamp: 1_700_000_010 };
const revision = (number: number, atMs: number, operation = 'updatePolicy', name = 'ada@example.org') => ({
  revision: number,
  at: new Date(atMs).toISOString(),
  action: 'updated' as const,
  note: '',
  author: { id: '1', name, surface: 'dashboard', operation, address: '', user_agent: '' },
  paths: [],
  summary: [],
});

describe('Revision of an audit record', () => {
  test('it is the one of the same operation, author and time', () => {
    const found = revision(3, 1_700_000_009_400);
    const others = [
      revision(5, 1_700_000_060_000),
      revision(4, 1_700_000_009_900, 'deletePolicy'),
      revision(2, 1_700_000_009_000, 'updatePolicy', 'eve@example.org'),
    ];
    assert.equal(findRecordedRevision([...others, found], record), found);
  });

  test('none is named where two are possible', () => {
    const both = [revision(3, 1_700_000_009_400), revision(2, 1_700_000_009_100)];
    assert.equal(findRecordedRevision(both, record), undefined);
  });

  test('an object has a history where a write of it was done', () => {
    const shared = { _id: '1', req_id: '', org_id: '', date: '', ip: '', surface: '', object_name: '', ...record };
    const put = { ...shared, method: 'PUT', url: '/api/portal/policies/a', status: 200, object: 'a' };
    assert.deepEqual(findHistory(put)?.params, { apiId: 'a', policyId: 'a', hookId: 'a', assetId: 'a' });
    for (const other of [{ status: 400 }, { method: 'DELETE' }, { object: '' }, { url: '/api/keys/a' }])
      assert.equal(findHistory({ ...put, ...other }), undefined, JSON.stringify(other));
  });
});
