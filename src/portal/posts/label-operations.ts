import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { present, problem } from '../problems.ts';
import {
  applyLimit,
  lenientInt,
  numberedId,
  okResponse,
  okStatus,
  type PortalPageQuery,
  portalPageQuery,
} from '../shapes.ts';
import type { PostTools } from './operations.ts';
import { Label, toLabelView } from './schema.ts';

/** Both kinds of label are read, attached and detached alike; these say what differs. */
const categories = { store: 'categories', member: 'Categories', what: 'Category' } as const;
const tags = { store: 'tags', member: 'Tags', what: 'Tag' } as const;
type Kind = typeof categories | typeof tags;

async function labelsOf({ store }: Kind, id: number, query: PortalPageQuery, { posts }: PostTools) {
  const [labels] = await posts.labelled([present(await posts.get(id), 'Post')]);
  const start = (query.page - 1) * query.per_page;
  return applyLimit(labels![store].slice(start, start + query.per_page), query).map(toLabelView);
}

async function attach({ store, member, what }: Kind, id: number, labelId: number, { posts, clock }: PostTools) {
  const { ID } = present(await posts.get(id), 'Post', 'unknown');
  const label = await posts[store].get(labelId);
  if (!label) throw createInvalidProblem([{ path: 'ID', message: `there is no ${what.toLowerCase()} ${labelId}` }]);
  const changed = await posts.change(ID, post => ({
    ...post,
    [member]: [...new Set([...post[member], labelId])],
    UpdatedAt: clock.now(),
  }));
  present(changed, 'Post', 'unknown');
  return toLabelView(label);
}

async function detach({ member, what }: Kind, id: number, labelId: number, { posts, clock }: PostTools) {
  const changed = await posts.change(id, post => {
    if (!post[member].includes(labelId)) throw problem.not_found({ detail: { what } });
    return { ...post, [member]: post[member].filter(each => each !== labelId), UpdatedAt: clock.now() };
  });
  present(changed, 'Post');
  return okStatus;
}

const declared = { surface: 'portal', noun: 'posts', permission: 'secret' } as const;
const post_id = numberedId;
const named = z.object({ ID: lenientInt });

export const listPostCategories = operation({
  ...declared,
  name: 'listPostCategories',
  method: 'GET',
  path: '/portal-api/posts/{post_id}/categories',
  about: 'Lists the categories of a post.',
  params: z.object({ post_id }),
  query: portalPageQuery,
  returns: z.array(Label),
  problems: [problem.not_found],
  handle: ({ params, query }, tools: PostTools) => labelsOf(categories, params.post_id, query, tools),
});

export const attachPostCategory = operation({
  ...declared,
  name: 'attachPostCategory',
  method: 'POST',
  path: '/portal-api/posts/{post_id}/categories',
  about: 'Puts a post into a category that exists.',
  params: z.object({ post_id }),
  body: named,
  returns: Label,
  status: 201,
  problems: [problem.unknown],
  handle({ params, body, audit }, tools: PostTools) {
    audit(String(params.post_id));
    return attach(categories, params.post_id, body.ID, tools);
  },
});

export const detachPostCategory = operation({
  ...declared,
  name: 'detachPostCategory',
  method: 'DELETE',
  path: '/portal-api/posts/{post_id}/categories/{category_id}',
  about: 'Takes a post out of a category; the category stays.',
  params: z.object({ post_id, category_id: numberedId }),
  returns: okResponse,
  problems: [problem.not_found],
  handle({ params, audit }, tools: PostTools) {
    audit(String(params.post_id));
    return detach(categories, params.post_id, params.category_id, tools);
  },
});

export const listPostTags = operation({
  ...declared,
  name: 'listPostTags',
  method: 'GET',
  path: '/portal-api/posts/{post_id}/tags',
  about: 'Lists the tags of a post.',
  params: z.object({ post_id }),
  query: portalPageQuery,
  returns: z.array(Label),
  problems: [problem.not_found],
  handle: ({ params, query }, tools: PostTools) => labelsOf(tags, params.post_id, query, tools),
});

export const attachPostTag = operation({
  ...declared,
  name: 'attachPostTag',
  method: 'POST',
  path: '/portal-api/posts/{post_id}/tags',
  about: 'Puts a tag that exists on a post.',
  params: z.object({ post_id }),
  body: named,
  returns: Label,
  status: 201,
  problems: [problem.unknown],
  handle({ params, body, audit }, tools: PostTools) {
    audit(String(params.post_id));
    return attach(tags, params.post_id, body.ID, tools);
  },
});

export const detachPostTag = operation({
  ...declared,
  name: 'detachPostTag',
  method: 'DELETE',
  path: '/portal-api/posts/{post_id}/tags/{tag_id}',
  about: 'Takes a tag off a post; the tag stays.',
  params: z.object({ post_id, tag_id: numberedId }),
  returns: okResponse,
  problems: [problem.not_found],
  handle({ params, audit }, tools: PostTools) {
    audit(String(params.post_id));
    return detach(tags, params.post_id, params.tag_id, tools);
  },
});

export const postLabelOperations = [
  listPostCategories,
  attachPostCategory,
  detachPostCategory,
  listPostTags,
  attachPostTag,
  detachPostTag,
];
