import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { batchOf, type GivenCall, noon, someApi } from '../../tests/support/records.ts';
import { forEachCall, tagSeparator } from './batch.ts';
import { createUsageRollUp, type DrainedUsage, type UsageRollUpOptions } from './roll-up.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const withTags = (...tags: string[]): GivenCall => ({ tags: tags.join(tagSeparator) });

function rollUp(calls: readonly GivenCall[], options: Partial<UsageRollUpOptions> = {}) {
  const made = createUsageRollUp({ rowsPerMinute: 100, normalisePaths: false, ...options });
  forEachCall(batchOf(calls), made.add);
  return made;
}

/** Tags and hits of each row. */
const describeRows = ({ rows, tags }: DrainedUsage) =>
  rows
    .map(({ tag_set, hits }) => {
      const own = tags.filter(it => it.tag_set === tag_set).map(({ tag }) => tag);
      return `${own.join(' ')}: ${hits}`;
    })
    .sort();

describe('Tags of usage rows', () => {
  test('calls with the same tags are one row, in any order and repeated, with the tags of the API', () => {
    const api = { ...someApi, tags: ['eu'] };
    const drained = rollUp(
      [withTags('b', 'a'), withTags('a', 'b', 'a'), withTags('a'), {}].map(it => ({ ...it, api })),
    );
    assert.deepEqual(describeRows(drained.drain(noon)), ['a b eu: 2', 'a eu: 1', 'eu: 1']);
  });

  test('ids of traces are no tags of usage, and do not separate rows', () => {
    const drained = rollUp([withTags('a', 'trace-id-1'), withTags('trace-id-2', 'a'), withTags('trace-id-3'), {}]);
    assert.deepEqual(describeRows(drained.drain(noon)), [': 2', 'a: 2']);
  });

  test('a set is stored once, with the last day of its rows, and apart for each organisation', () => {
    const other = { ...someApi, id: 'pets', orgId: 'other' };
    const calls = [withTags('a'), { ...withTags('a'), path: '/2' }, { ...withTags('a'), atMs: noon + dayMs }];
    const { tags } = rollUp([...calls, { ...withTags('a'), api: other }]).drain(noon);
    assert.deepEqual(
      tags.map(({ tag, org_id, used_day }) => [tag, org_id, used_day]).sort((a, b) => (a[1]! < b[1]! ? -1 : 1)),
      [
        ['a', 'org', noon + dayMs / 2],
        ['a', 'other', noon - dayMs / 2],
      ],
    );
    assert.equal(new Set(tags.map(it => it.tag_set)).size, 2);
  });

  test('tags beyond the bound of an API and hour count as other, those known before do not', () => {
    const calls = ['a', 'b', 'c', 'd'].map(tag => withTags(tag));
    const pets = { ...withTags('c'), api: { ...someApi, id: 'pets' } };
    const later = { ...withTags('d'), atMs: noon + hourMs };
    const made = rollUp([...calls, withTags('a'), pets, later], { maxTagsPerHour: 2 });
    assert.deepEqual(describeRows(made.drain(noon)), ['a: 2', 'b: 1', 'c: 1', 'd: 1', 'other: 2']);
    forEachCall(batchOf([withTags('e'), withTags('b')]), made.add);
    assert.deepEqual(describeRows(made.drain(noon)), ['b: 1', 'other: 1']);
  });

  test('a known tag is counted beside an unknown one that is folded', () => {
    const made = rollUp([withTags('a', 'b'), withTags('a', 'c')], { maxTagsPerHour: 2 });
    assert.deepEqual(describeRows(made.drain(noon)), ['a b: 1', 'a other: 1']);
  });

  test('combinations of tags have the bound of tags', () => {
    const made = rollUp([withTags('a'), withTags('b'), withTags('a', 'b')], { maxTagsPerHour: 2 });
    assert.deepEqual(describeRows(made.drain(noon)), ['a: 1', 'b: 1', 'other: 1']);
    const none = rollUp([withTags('a'), {}], { maxTagsPerHour: 0 });
    assert.deepEqual(describeRows(none.drain(noon)), [': 1', 'other: 1']);
  });

  test('an API with too many rows folds paths before tags, and loses no call', () => {
    const calls = Array.from({ length: 40 }, (_, n) => ({ ...withTags(`t${n}`), path: `/${n}` }));
    const drained = rollUp(calls, { rowsPerMinute: 10 }).drain(noon);
    assert.equal(drained.rows.length, 21);
    assert.ok(describeRows(drained).includes('other: 20'));
  });

  test('restored rows have their tags', () => {
    const made = rollUp([withTags('a', 'b'), {}]);
    const taken = made.drain(noon);
    made.restore(taken);
    assert.deepEqual(made.drain(noon), taken);
  });

  test('long tags are cut', () => {
    const { tags } = rollUp([withTags('x'.repeat(1000))]).drain(noon);
    assert.equal(tags[0]!.tag, 'x'.repeat(200));
  });
});
