import { sql } from 'kysely';
import type { Records } from '#storage/records.ts';
import { readDocuments } from '../batch-store.ts';
import { createJoinTableStore } from '../join-table-store.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { createLabelStore, type LabelStore } from './label-store.ts';
import { problem } from './problems.ts';
import type { PostLabels, StoredLabel, StoredPost } from './schema.ts';

export type PostStore = ReturnType<typeof createPostStore>;

export function createPostStore(records: Records) {
  const { page, get, byIds, all, ...writes } = createNumberedStore<'portal_posts', StoredPost>(
    records,
    'portal_posts',
    it => ({ path: it.Path, status: it.Status }),
    problem.path_taken,
  );
  /** Posts by tag. The document of a post has its tags in order. */
  const tagged = createJoinTableStore(records, 'portal_post_tags', 'tag_id');
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

  const indexTags = async <Post extends StoredPost | undefined>(post: Post): Promise<Post> => {
    if (post) await tagged.setLeftOf(post.ID, post.Tags);
    return post;
  };

  return {
    page,
    get,
    byIds,
    all,
    /** Newest published posts in batches: posts are long. */
    readPublished: (limit: number) =>
      readDocuments<StoredPost>(
        records,
        'portal_posts',
        sql`from portal_posts where status = 'published' order by id desc limit ${limit}`,
      ),
    insert: (post: Omit<StoredPost, 'ID'>) => records.write(async () => indexTags(await writes.insert(post))),
    change: (id: number, change: (post: StoredPost) => StoredPost) =>
      records.write(async () => indexTags(await writes.change(id, change))),
    remove: (id: number) =>
      records.write(async () => {
        await tagged.setLeftOf(id, []);
        return writes.remove(id);
      }),
    categories,
    tags,
    tagged,
    readLabels,
  };
}
