import type { Records } from '#storage/records.ts';
import { createNumberedStore } from '../numbered-store.ts';
import { createLabelStore, type LabelStore } from './label-store.ts';
import { problem } from './problems.ts';
import type { PostLabels, StoredLabel, StoredPost } from './schema.ts';

export type PostStore = ReturnType<typeof createPostStore>;

export function createPostStore(records: Records) {
  const { page, get, insert, change, remove } = createNumberedStore<'portal_posts', StoredPost>(
    records,
    'portal_posts',
    it => ({ path: it.Path, status: it.Status }),
    problem.path_taken,
  );
  const categories = createLabelStore(records, 'portal_categories');
  const tags = createLabelStore(records, 'portal_tags');

  /** Labels of posts, one query per kind. Deleted labels are omitted. */
  async function readLabels(posts: readonly StoredPost[]): Promise<PostLabels[]> {
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

  return { page, get, insert, change, remove, categories, tags, readLabels: readLabels };
}
