import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { readDocuments } from '../batch-store.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { createLabelStore, type LabelStore } from './label-store.ts';
import { problem } from './problems.ts';
import type { PostLabels, StoredLabel, StoredPost } from './schema.ts';

export type PostStore = ReturnType<typeof createPostStore>;

/** Day of a post in its address, in UTC. */
export const formatPostDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10).replaceAll('-', '/');

export function createPostStore(records: Records) {
  const { page, get, byIds, all, ...writes } = createNumberedStore<'portal_posts', StoredPost>(
    records,
    'portal_posts',
    it => ({ path: it.Path, status: it.Status }),
    problem.path_taken,
  );
  /** Posts by tag. The document of a post has its tags in order. */
  const tagged = createJoinTableStore(records, 'portal_post_tags', 'tag_id');
  const categorized = createJoinTableStore(records, 'portal_post_categories', 'category_id');
  const categories = createLabelStore(records, 'portal_categories');
  const tags = createLabelStore(records, 'portal_tags');

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
    ...createPublishedReads(records),
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

/** Reads of posts that visitors see. */
function createPublishedReads(records: Records) {
  return {
    /** Newest published posts in batches: posts are long. */
    readPublished: (limit: number) =>
      readDocuments<StoredPost>(
        records,
        'portal_posts',
        sql`from portal_posts where status = 'published' order by id desc limit ${limit}`,
      ),
    /** Days of creation in UTC, `2026/11/17`, of those of the paths that a published post has. */
    async readPublishedDays(paths: readonly string[]): Promise<Map<string, string>> {
      const days = new Map<string, string>();
      if (paths.length === 0) return days;
      const rows = sql`from portal_posts where status = 'published' and path in (${sql.join(paths)})`;
      for await (const batch of readDocuments<StoredPost>(records, 'portal_posts', rows))
        for (const { Path, CreatedAt } of batch) days.set(Path, formatPostDay(CreatedAt));
      return days;
    },
    /** A page of the published posts of a category, newest first. */
    async pageOfCategory(categoryId: number, { page, size }: { page: number; size: number }): Promise<StoredPost[]> {
      const found: StoredPost[] = [];
      const rows = sql`from portal_posts where status = 'published' and id in (
        select post_id from portal_post_categories where category_id = ${categoryId})
        order by id desc limit ${size} offset ${(page - 1) * size}`;
      for await (const batch of readDocuments<StoredPost>(records, 'portal_posts', rows)) found.push(...batch);
      return found;
    },
    /** Newest published posts with one of the tags. */
    async listTagged(tagIds: readonly number[], limit: number): Promise<StoredPost[]> {
      const found: StoredPost[] = [];
      if (tagIds.length === 0) return found;
      const rows = sql`from portal_posts where status = 'published' and id in (
        select post_id from portal_post_tags where tag_id in (${sql.join(tagIds)}))
        order by id desc limit ${limit}`;
      for await (const batch of readDocuments<StoredPost>(records, 'portal_posts', rows)) found.push(...batch);
      return found;
    },
  };
}
