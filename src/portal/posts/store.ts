import type { Records } from '#storage/records.ts';
import { numberedStore } from '../numbered-store.ts';
import { type LabelStore, labelStore } from './label-store.ts';
import { problem } from './problems.ts';
import type { PostLabels, StoredLabel, StoredPost } from './schema.ts';

export type PostStore = ReturnType<typeof postStore>;

export function postStore(records: Records) {
  const { page, get, insert, change, remove } = numberedStore<'portal_posts', StoredPost>(
    records,
    'portal_posts',
    it => ({ path: it.Path, status: it.Status }),
    problem.path_taken,
  );
  const categories = labelStore(records, 'portal_categories');
  const tags = labelStore(records, 'portal_tags');

  /** The labels of some posts, one query for each kind. A label that was removed since is not shown. */
  async function labelled(posts: readonly StoredPost[]): Promise<PostLabels[]> {
    const byId = async (labels: LabelStore, member: 'Categories' | 'Tags') =>
      labels.byIds(posts.flatMap(post => post[member]));
    const [foundCategories, foundTags] = [await byId(categories, 'Categories'), await byId(tags, 'Tags')];
    const pick = (found: ReadonlyMap<number, StoredLabel>, ids: readonly number[]) =>
      ids.flatMap(id => found.get(id) ?? []);
    return posts.map(post => ({
      categories: pick(foundCategories, post.Categories),
      tags: pick(foundTags, post.Tags),
    }));
  }

  return { page, get, insert, change, remove, categories, tags, labelled };
}
