import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { present, problem } from '../problems.ts';
import {
  lenientInt,
  numberedId,
  okResponse,
  okStatus,
  type PortalPageQuery,
  paginate,
  portalPageQuery,
} from '../shapes.ts';
import type { PostServices } from './operations.ts';
import { Label, toLabelView } from './schema.ts';

/** The two kinds of label; each row becomes three operations. */
const labelKinds = [
  {
    store: 'categories',
    member: 'Categories',
    what: 'Category',
    param: 'category_id',
    list: { name: 'listPostCategories', about: 'Lists the categories of a post.' },
    attach: { name: 'attachPostCategory', about: 'Adds a post to an existing category.' },
    detach: { name: 'detachPostCategory', about: 'Removes a post from a category; the category is not deleted.' },
  },
  {
    store: 'tags',
    member: 'Tags',
    what: 'Tag',
    param: 'tag_id',
    list: { name: 'listPostTags', about: 'Lists the tags of a post.' },
    attach: { name: 'attachPostTag', about: 'Adds an existing tag to a post.' },
    detach: { name: 'detachPostTag', about: 'Removes a tag from a post; the tag is not deleted.' },
  },
] as const;
type Kind = (typeof labelKinds)[number];

async function listLabels({ store }: Kind, id: number, query: PortalPageQuery, { posts }: PostServices) {
  const [labels] = await posts.readLabels([present(await posts.get(id), 'Post')]);
  return paginate(labels![store], query).map(toLabelView);
}

async function attach({ store, member, what }: Kind, id: number, labelId: number, { posts, clock }: PostServices) {
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

async function detach({ member, what }: Kind, id: number, labelId: number, { posts, clock }: PostServices) {
  const changed = await posts.change(id, post => {
    if (!post[member].includes(labelId)) throw problem.not_found({ detail: { what } });
    return { ...post, [member]: post[member].filter(each => each !== labelId), UpdatedAt: clock.now() };
  });
  present(changed, 'Post');
  return okStatus;
}

const declared = { surface: 'portal', noun: 'posts', permission: 'secret' } as const;
const post_id = numberedId;
const LabelReference = z.object({ ID: lenientInt });

// The cast names the computed member, which the compiler would widen to any string.
const buildDetachParams = ({ param }: Kind) =>
  z.object({ post_id, [param]: numberedId }) as z.ZodObject<Record<'post_id' | Kind['param'], typeof numberedId>>;

const buildOperations = (kind: Kind) => [
  operation({
    ...declared,
    ...kind.list,
    method: 'GET',
    path: `/portal-api/posts/{post_id}/${kind.store}`,
    params: z.object({ post_id }),
    query: portalPageQuery,
    returns: z.array(Label),
    problems: [problem.not_found],
    handle: ({ params, query }, services: PostServices) => listLabels(kind, params.post_id, query, services),
  }),
  operation({
    ...declared,
    ...kind.attach,
    method: 'POST',
    path: `/portal-api/posts/{post_id}/${kind.store}`,
    params: z.object({ post_id }),
    body: LabelReference,
    returns: Label,
    status: 201,
    problems: [problem.unknown],
    handle({ params, body, audit }, services: PostServices) {
      audit(String(params.post_id));
      return attach(kind, params.post_id, body.ID, services);
    },
  }),
  operation({
    ...declared,
    ...kind.detach,
    method: 'DELETE',
    path: `/portal-api/posts/{post_id}/${kind.store}/{${kind.param}}`,
    params: buildDetachParams(kind),
    returns: okResponse,
    problems: [problem.not_found],
    handle({ params, audit }, services: PostServices) {
      audit(String(params.post_id));
      return detach(kind, params.post_id, params[kind.param], services);
    },
  }),
];

export const postLabelOperations = labelKinds.flatMap(buildOperations);
