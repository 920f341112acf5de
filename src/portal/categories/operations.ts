import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { createSortableId } from '#base/ids.ts';
import { readOnlyMembers } from '#base/members.ts';
import { Problem } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import type { Records } from '#storage/records.ts';
import { problem as postProblem } from '../posts/problems.ts';
import { Label, toLabelView } from '../posts/schema.ts';
import type { PostStore } from '../posts/store.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { tagName } from '../tags/schema.ts';

interface Services {
  posts: PostStore;
  records: Records;
  clock: Clock;
}

const declared = { surface: 'portal', noun: 'categories', permission: 'secret' } as const;
const params = z.object({ category_id: portalId });
const CategoryWrite = readOnlyMembers(z.object({ Name: tagName }), ['ID', 'CreatedAt', 'UpdatedAt']);

/** Names are unique: the conflict of the store is a fault of the body here. */
async function refuseTakenName<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Problem && cause.code === postProblem.label_taken.code)
      throw problem.category_exists({ cause });
    throw cause;
  }
}

export const listBlogCategories = operation({
  ...declared,
  name: 'listBlogCategories',
  method: 'GET',
  path: '/portal-api/categories',
  about: 'Lists the categories of posts, newest first.',
  query: portalPageQuery,
  returns: z.array(Label),
  async handle({ query }, { posts }: Services) {
    return (await posts.categories.page(query)).map(toLabelView);
  },
});

export const createCategory = operation({
  ...declared,
  name: 'createCategory',
  method: 'POST',
  path: '/portal-api/categories',
  about: 'Creates a category of posts, which has a page on the site while it has published posts.',
  body: CategoryWrite,
  example: { Name: 'Releases' },
  returns: Label,
  status: 201,
  problems: [problem.category_exists],
  async handle({ body, audit }, { posts, clock }: Services) {
    const now = clock.now();
    const fresh = { CID: createSortableId(now), Name: body.Name, CreatedAt: now, UpdatedAt: now };
    const created = await refuseTakenName(posts.categories.insert(fresh));
    audit(String(created.ID));
    return toLabelView(created);
  },
});

export const getCategory = operation({
  ...declared,
  name: 'getCategory',
  method: 'GET',
  path: '/portal-api/categories/{category_id}',
  about: 'Returns a category.',
  params,
  returns: Label,
  problems: [problem.not_found],
  async handle({ params: { category_id } }, { posts }: Services) {
    return toLabelView(present(await posts.categories.get(category_id), 'Category'));
  },
});

export const updateCategory = operation({
  ...declared,
  name: 'updateCategory',
  method: 'PUT',
  path: '/portal-api/categories/{category_id}',
  about: 'Renames a category, in all of its posts.',
  params,
  body: CategoryWrite,
  returns: Label,
  problems: [problem.unknown, problem.category_exists],
  async handle({ params: { category_id }, body, audit }, { posts, clock }: Services) {
    const changed = await refuseTakenName(
      posts.categories.change(category_id, it => ({ ...it, Name: body.Name, UpdatedAt: clock.now() })),
    );
    const category = present(changed, 'Category', 'unknown');
    audit(String(category.ID));
    return toLabelView(category);
  },
});

export const deleteCategory = operation({
  ...declared,
  name: 'deleteCategory',
  method: 'DELETE',
  path: '/portal-api/categories/{category_id}',
  about: 'Deletes a category, and removes it from its posts.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { category_id }, audit }, { posts, records }: Services) {
    const { ID } = present(await posts.categories.get(category_id), 'Category');
    audit(String(ID));
    await records.write(async () => {
      await posts.categorized.setRightOf(ID, []);
      await posts.categories.remove(ID);
    });
    return okStatus;
  },
});

export const categoryOperations = [listBlogCategories, createCategory, getCategory, updateCategory, deleteCategory];
