import type { UsageTagRow } from '#storage/analytics-tables.ts';
import { type BatchApi, type CallRecord, tagSeparator } from './batch.ts';
import { dayMs, hourMs } from './time-buckets.ts';
import { digestRowName, otherName } from './usage-rows.ts';

/** Distinct tags of a call, sorted. Usage rows with the same tags name one set, which is stored once. */
export interface TagSet {
  /** Digest of organisation and tags; empty without tags. */
  readonly id: string;
  readonly orgId: string;
  readonly tags: readonly string[];
}

export const noTags: TagSet = { id: '', orgId: '', tags: [] };

/** Ids of traces are tags of logged requests only: each has one request. */
const traceTagPrefix = 'trace-id-';
/** Both engines bound the bytes of an indexed value. */
const maxTagCharacters = 200;
/** Bound of sets of all APIs in memory; calls beyond it have the tag `other`. */
const maxTrackedSets = 50_000;
/** Hours whose tags are tracked, so that the bound holds across several writes of one hour. */
const trackedHours = 2;

/** Tags of one API in one hour. */
interface TrackedTags {
  readonly hour: number;
  readonly tags: Set<string>;
  /** Sets by the tags of a call as received. */
  readonly sets: Map<string, TagSet>;
}

export interface TagSetOptions {
  /** Bound of distinct tags, and of distinct sets, of one API and hour; others count as `other`. */
  readonly maxTagsPerHour: number;
}

/** Tag sets of calls within bounds: a client may send any value in a header that becomes a tag. */
export function createTagSets({ maxTagsPerHour }: TagSetOptions) {
  const trackedByApiHour = new Map<string, TrackedTags>();
  let trackedSets = 0;

  function findTracked({ id, orgId }: BatchApi, hour: number): TrackedTags {
    const place = `${hour}/${orgId}/${id}`;
    const known = trackedByApiHour.get(place);
    if (known) return known;
    const tracked = { hour, tags: new Set<string>(), sets: new Map<string, TagSet>() };
    trackedByApiHour.set(place, tracked);
    return tracked;
  }

  function limitTag({ tags }: TrackedTags, tag: string): string {
    if (!tags.has(tag) && tags.size >= maxTagsPerHour) return otherName;
    tags.add(tag);
    return tag;
  }

  return {
    /** The tags of a call that are counted. */
    read(record: CallRecord): TagSet {
      const given = listCountedTags(record);
      if (given.length === 0) return noTags;
      const { api } = record;
      const at = record.number('atMs');
      const tracked = findTracked(api, at - (at % hourMs));
      const name = given.join(tagSeparator);
      const known = tracked.sets.get(name);
      if (known) return known;
      if (tracked.sets.size >= maxTagsPerHour || trackedSets >= maxTrackedSets) return createOtherTags(api.orgId);
      const set = createTagSet(
        api.orgId,
        given.map(tag => limitTag(tracked, tag)),
      );
      tracked.sets.set(name, set);
      trackedSets++;
      return set;
    },
    /** Removes the tags of hours before the tracked ones. */
    deleteBefore(nowMs: number): void {
      const oldest = nowMs - trackedHours * hourMs;
      for (const [place, { hour, sets }] of trackedByApiHour)
        if (hour < oldest) {
          trackedByApiHour.delete(place);
          trackedSets -= sets.size;
        }
    },
  };
}

function listCountedTags(record: CallRecord): string[] {
  const text = record.word('tags');
  const { tags } = record.api;
  const all = text === '' ? tags : [...tags, ...text.split(tagSeparator)];
  return all.filter(tag => !tag.startsWith(traceTagPrefix)).map(tag => tag.slice(0, maxTagCharacters));
}

function createTagSet(orgId: string, given: readonly string[]): TagSet {
  const tags = [...new Set(given)].sort();
  return { id: digestRowName(JSON.stringify([orgId, ...tags])), orgId, tags };
}

/** The set of calls whose tags are not counted separately. */
export const createOtherTags = (orgId: string): TagSet => createTagSet(orgId, [otherName]);

/** Stored form of a set: one row for each tag, with the day of its last use. */
export function toTagRows({ id, orgId, tags }: TagSet, minute: number): UsageTagRow[] {
  return tags.map(tag => ({ tag_set: id, tag, org_id: orgId, used_day: minute - (minute % dayMs) }));
}

/** Sets of stored rows, by id. */
export function indexTagSets(rows: readonly UsageTagRow[]): ReadonlyMap<string, TagSet> {
  const sets = new Map<string, TagSet & { readonly tags: string[] }>();
  for (const { tag_set: id, org_id: orgId, tag } of rows) {
    const known = sets.get(id);
    if (known) known.tags.push(tag);
    else sets.set(id, { id, orgId, tags: [tag] });
  }
  return sets;
}
