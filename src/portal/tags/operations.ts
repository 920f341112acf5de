import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { problem as postProblem } from '../posts/problems.ts';
import type { StoredLabel } from '../posts/schema.ts';
import type { PostStore } from '../posts/store.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { Tag, TagRow, TagWrite, toTagRow, toTagView } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'> & { posts: PostStore };

const declared = { surface: 'portal', noun: 'tags', permission: 'secret' } as const;
const params = z.object({ tag_id: portalId });
/** Posts and products that the view of a tag names, the newest. */
const maxTagged = 1000;

async function loadTagView(tag: StoredLabel, { portal, posts }: Services) {
  const newest = (partners: ReadonlyMap<number, number[]>) => partnersOf(partners, tag.ID).slice(-maxTagged).reverse();
  const postIds = newest(await posts.tagged.rightOf([tag.ID]));
  const productIds = newest(await portal.productTags.rightOf([tag.ID]));
  const [byPostId, byProductId] = [await posts.byIds(postIds), await portal.products.byIds(productIds)];
  return toTagView(
    tag,
    postIds.flatMap(id => byPostId.get(id) ?? []),
    productIds.flatMap(id => byProductId.get(id) ?? []),
  );
}

/** Names are unique: the conflict of the store is a fault of the body here. */
async function refuseTaken<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    if (cause instanceof Problem && cause.code === postProblem.label_taken.code) throw problem.tag_exists({ cause });
    throw cause;
  }
}

export const listTags = operation({
  ...declared,
  name: 'listTags',
  method: 'GET',
  path: '/portal-api/tags',
  about: 'Lists the tags of posts and products, newest first.',
  query: portalPageQuery,
  returns: z.array(TagRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.tags.page(query)).map(toTagRow);
  },
});

export const createTag = operation({
  ...declared,
  name: 'createTag',
  method: 'POST',
  path: '/portal-api/tags',
  about: 'Creates a tag.',
  body: TagWrite,
  returns: Tag,
  status: 201,
  problems: [problem.tag_exists],
  async handle({ body, audit }, services: Services) {
    const now = services.clock.now();
    const fresh = { CID: createSortableId(now), Name: body.Name, CreatedAt: now, UpdatedAt: now };
    const tag = await refuseTaken(services.portal.tags.insert(fresh));
    audit(String(tag.ID));
    return loadTagView(tag, services);
  },
});

export const getTag = operation({
  ...declared,
  name: 'getTag',
  method: 'GET',
  path: '/portal-api/tags/{tag_id}',
  about: 'Returns a tag with its posts and products, at most 1000 of each, newest first.',
  params,
  returns: Tag,
  problems: [problem.not_found],
  async handle({ params: { tag_id } }, services: Services) {
    return loadTagView(present(await services.portal.tags.get(tag_id), 'Tag'), services);
  },
});

export const updateTag = operation({
  ...declared,
  name: 'updateTag',
  method: 'PUT',
  path: '/portal-api/tags/{tag_id}',
  about: 'Renames a tag, in all of its posts and products.',
  params,
  body: TagWrite,
  returns: Tag,
  problems: [problem.unknown, problem.tag_exists],
  async handle({ params: { tag_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const changed = await refuseTaken(
      portal.tags.change(tag_id, it => ({ ...it, Name: body.Name, UpdatedAt: clock.now() })),
    );
    const tag = present(changed, 'Tag', 'unknown');
    audit(String(tag.ID));
    return loadTagView(tag, services);
  },
});

export const deleteTag = operation({
  ...declared,
  name: 'deleteTag',
  method: 'DELETE',
  path: '/portal-api/tags/{tag_id}',
  about: 'Deletes a tag, and removes it from its posts and products.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { tag_id }, audit }, { portal, posts, records }: Services) {
    const { ID } = present(await portal.tags.get(tag_id), 'Tag');
    audit(String(ID));
    await records.write(async () => {
      await posts.tagged.setRightOf(ID, []);
      await portal.productTags.setRightOf(ID, []);
      await portal.tags.remove(ID);
    });
    return okStatus;
  },
});

export const tagOperations = [listTags, createTag, getTag, updateTag, deleteTag];
