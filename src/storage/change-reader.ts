import type { Records, Topic } from './records.ts';

export interface TopicChanges {
  /** The ids are complete up to this revision. */
  readonly revision: number;
  /** Ids of changed objects; undefined where the log does not reach back, or the whole topic changed. */
  readonly ids: ReadonlySet<string> | undefined;
}

/**
 * Change log of one topic after a revision, for an in-memory copy of its rows. Revisions become visible in order, so a
 * read after the current revision was read has every change up to it.
 */
export async function readTopicChanges(records: Records, topic: Topic, since: number): Promise<TopicChanges> {
  const current = await records.revision();
  if (current === since) return { revision: current, ids: new Set() };
  // A database restored from a backup is at an earlier revision.
  if (current < since) return { revision: current, ids: undefined };
  // Every revision has rows: a log that has the oldest one needed has all later ones.
  const oldest = Math.max(since, 1);
  const rows = await records.db
    .selectFrom('changes')
    .select(['revision', 'topic', 'id'])
    .where('revision', '>=', since)
    .where(it => it.or([it('topic', '=', topic), it('revision', '=', oldest)]))
    .orderBy('revision')
    .execute();
  const revision = Math.max(current, Number(rows.at(-1)?.revision ?? 0));
  const isComplete = rows.length > 0 && Number(rows[0]!.revision) === oldest;
  const ids = new Set(rows.filter(row => Number(row.revision) > since && row.topic === topic).map(({ id }) => id));
  return { revision, ids: isComplete && !ids.has('') ? ids : undefined };
}
