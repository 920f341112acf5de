import { type RawBuilder, sql } from 'kysely';
import type { Clock } from '#base/clock.ts';
import type { Records } from '#storage/records.ts';
import { readDocuments } from '../batch-store.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { createLabelStore, type LabelStore } from './label-store.ts';
import { problem } from './problems.ts';
import { getPostDate, type PostLabels, type StoredLabel, type StoredPost } from './schema.ts';

export type PostStore = ReturnType<typeof createPostStore>;

/** Day of a post in its address, in UTC. */
export const formatPostDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '/');

export function createPostStore(records: Records, clock: Clock) {
  const { page, get, byIds, all, ...writes } = createNumberedStore<'portal_posts', StoredPost>(
    records,
    'portal_posts',
    it => ({ path: it.Path, status: it.Status, published_at: getPostDate(it) }),
    problem.path_taken,
  );
  /** Posts by tag. The document of a post has its tags in order. */
  const tagged = createJoinTableStore(records, 'portal_post_tags', 'tag_id');
  const categorized = createJoinTableStore(records, 'portal_post_categories', 'category_id');
  const categories = createLabelStore(records, 'portal_categories');
  const tags = createLabelStore(records, 'portal_tags');

  /** A published post is public once its time has come. */
  const isPublic = (post: Pick<StoredPost, 'Status' | 'PublishAt' | 'CreatedAt'>) =>
    post.Status === 'published' && getPostDate(post) <= clock.now();

  /** Labels of posts, one query per kind. Deleted labels are omitted. */
  async function readLabels(posts: readonly Pick<StoredPost, 'Categories' | 'Tags'>[]): Promise<PostLabels[]> {
    const byId = async (labels: LabelStore, member: 'Categories' | 'Tags') =>
      labels.byIds(posts.flatMap(post => post[member]));
    const [foundCategories, foundTags] = [await byId(categories, 'Categories'), await byId(tags, 'Tags')];
    const pick = (labels: ReadonlyMap<number, StoredLabel>, ids: readonly number[]) =>
      ids.flatMap(id => labels.get(id) ?? []);
    return posts.map(post => ({
      categories: pick(foundCategories, post.Categories),
      tags: pick(foundTags, post.Tags),
    }));
  }

  const indexLabels = async <Post extends StoredPost | undefined>(post: Post): Promise<Post> => {
    if (!post) return post;
    await tagged.setLeftOf(post.ID, post.Tags);
    await categorized.setLeftOf(post.ID, post.Categories);
    return post;
  };

  return {
    page,
    get,
    byIds,
    all,
    isPublic,
    ...createPublishedReads(records, clock),
    insert: (post: Omit<StoredPost, 'ID'>) => records.write(async () => indexLabels(await writes.insert(post))),
    change: (id: number, change: (post: StoredPost) => StoredPost) =>
      records.write(async () => indexLabels(await writes.change(id, change))),
    remove: (id: number) =>
      records.write(async () => {
        await tagged.setLeftOf(id, []);
        await categorized.setLeftOf(id, []);
        return writes.remove(id);
      }),
    categories,
    tags,
    tagged,
    categorized,
    readLabels,
  };
}

/** Reads of posts that visitors see: those that are published and whose time has come, newest first. */
function createPublishedReads(records: Records, clock: Clock) {
  const isPublic = () => sql`status = 'published' and published_at <= ${clock.now()}`;
  const newestFirst = sql`order by published_at desc, id desc`;
  const toLimits = ({ page, size }: { page: number; size: number }) => sql`limit ${size} offset ${(page - 1) * size}`;
  async function readAll(rows: RawBuilder<unknown>): Promise<StoredPost[]> {
    const found: StoredPost[] = [];
    for await (const batch of readDocuments<StoredPost>(records, 'portal_posts', rows)) found.push(...batch);
    return found;
  }
  return {
    /** Newest published posts in batches: posts are long. */
    readPublished: (limit: number) =>
      readDocuments<StoredPost>(
        records,
        'portal_posts',
        sql`from portal_posts where ${isPublic()} ${newestFirst} limit ${limit}`,
      ),
    pagePublished: (limits: { page: number; size: number }) =>
      readAll(sql`from portal_posts where ${isPublic()} ${newestFirst} ${toLimits(limits)}`),
    /** All of them, oldest first. */
    allPublished: () => readAll(sql`from portal_posts where ${isPublic()} order by id`),
    findPublished: async (path: string): Promise<StoredPost | undefined> =>
      (await readAll(sql`from portal_posts where ${isPublic()} and path = ${path}`))[0],
    /** Days of the dates in UTC, `2026/11/17`, of those of the paths that a published post has. */
    async readPublishedDays(paths: readonly string[]): Promise<Map<string, string>> {
      if (paths.length === 0) return new Map();
      const found = await readAll(sql`from portal_posts where ${isPublic()} and path in (${sql.join(paths)})`);
      return new Map(found.map(post => [post.Path, formatPostDay(getPostDate(post))]));
    },
    /** A page of the published posts of a category. */
    pageOfCategory: (categoryId: number, limits: { page: number; size: number }) =>
      readAll(sql`from portal_posts where ${isPublic()} and id in (
        select post_id from portal_post_categories where category_id = ${categoryId}) ${newestFirst} ${toLimits(limits)}`),
    /** Newest published posts with one of the tags. */
    listTagged: async (tagIds: readonly number[], limit: number): Promise<StoredPost[]> =>
      tagIds.length === 0
        ? []
        : readAll(sql`from portal_posts where ${isPublic()} and id in (
        select post_id from portal_post_tags where tag_id in (${sql.join(tagIds)})) ${newestFirst} limit ${limit}`),
  };
}
