import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { operation } from '#operations/operation.ts';
import { problem as portalProblem, present } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import { type PostImageServices, postImageOperations, toPostOwner } from './image-operations.ts';
import { problem } from './problems.ts';
import {
  type ArticleChange,
  Post,
  PostChange,
  PostRow,
  PostWrite,
  type StoredPost,
  toPostRow,
  toPostView,
} from './schema.ts';
import type { PostStore } from './store.ts';

export interface PostServices {
  posts: PostStore;
  clock: Clock;
}

const params = z.object({ post_id: numberedId });
const declared = { surface: 'portal', noun: 'posts', permission: 'secret' } as const;

async function loadPostView(post: StoredPost, { posts }: PostServices) {
  const [labels] = await posts.readLabels([post]);
  return toPostView(post, { ...labels!, isPublic: posts.isPublic(post) });
}

/** Resolves the labels of a body; undefined when not sent. */
export async function resolvePostLabels(
  { Categories, Tags }: Pick<ArticleChange, 'Categories' | 'Tags'>,
  { posts, clock }: PostServices,
) {
  const { categories, tags } = posts;
  const now = clock.now();
  return {
    Categories:
      Categories === undefined
        ? undefined
        : await categories.resolveOrCreate(Categories ?? [], 'Categories', 'category', now),
    Tags: Tags === undefined ? undefined : await tags.resolveOrCreate(Tags ?? [], 'Tags', 'tag', now),
  };
}

export const listPosts = operation({
  ...declared,
  name: 'listPosts',
  method: 'GET',
  path: '/portal-api/posts',
  about: 'Lists the posts of the blog, newest first.',
  query: portalPageQuery,
  returns: z.array(PostRow),
  async handle({ query }, { posts }: PostServices) {
    const page = await posts.page(query);
    const labels = await posts.readLabels(page);
    return page.map((post, place) => toPostRow(post, { ...labels[place]!, isPublic: posts.isPublic(post) }));
  },
});

export const createPost = operation({
  ...declared,
  name: 'createPost',
  method: 'POST',
  path: '/portal-api/posts',
  about: 'Creates a post. Categories and tags are given by number, or by name and then created if missing.',
  body: PostWrite,
  returns: Post,
  status: 201,
  problems: [problem.path_taken],
  async handle({ body, audit }, services: PostServices) {
    const { Categories = [], Tags = [] } = await resolvePostLabels(body, services);
    const now = services.clock.now();
    const post = await services.posts.insert({
      Title: body.Title,
      Lede: body.Lede ?? '',
      Content: body.Content,
      Status: body.Status,
      Path: body.Path,
      Categories,
      Tags,
      MarkdownEnabled: body.MarkdownEnabled ?? false,
      MarkdownContent: body.MarkdownContent ?? '',
      PreviewContent: body.PreviewContent ?? '',
      PublishAt: body.PublishAt ?? 0,
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(post.ID));
    return loadPostView(post, services);
  },
});

export const getPost = operation({
  ...declared,
  name: 'getPost',
  method: 'GET',
  path: '/portal-api/posts/{post_id}',
  about: 'Returns a post.',
  params,
  returns: Post,
  problems: [portalProblem.not_found],
  async handle({ params: { post_id } }, services: PostServices) {
    return loadPostView(present(await services.posts.get(post_id), 'Post'), services);
  },
});

export const updatePost = operation({
  ...declared,
  name: 'updatePost',
  method: 'PUT',
  path: '/portal-api/posts/{post_id}',
  about: 'Updates a post. Lists replace the stored ones; omitted members do not change.',
  params,
  body: PostChange,
  returns: Post,
  problems: [portalProblem.unknown, problem.path_taken],
  async handle({ params: { post_id }, body, audit }, services: PostServices) {
    const { posts, clock } = services;
    const { ID } = present(await posts.get(post_id), 'Post', 'unknown');
    audit(String(ID));
    const labels = await resolvePostLabels(body, services);
    const changed = await posts.change(ID, it => ({
      ...it,
      Title: body.Title,
      Lede: body.Lede ?? it.Lede,
      Content: body.Content ?? it.Content,
      Status: body.Status,
      Path: body.Path ?? it.Path,
      Categories: labels.Categories ?? it.Categories,
      Tags: labels.Tags ?? it.Tags,
      MarkdownEnabled: body.MarkdownEnabled ?? it.MarkdownEnabled,
      MarkdownContent: body.MarkdownContent ?? it.MarkdownContent,
      PreviewContent: body.PreviewContent ?? it.PreviewContent,
      PublishAt: body.PublishAt ?? it.PublishAt ?? 0,
      UpdatedAt: clock.now(),
    }));
    return loadPostView(present(changed, 'Post', 'unknown'), services);
  },
});

export const deletePost = operation({
  ...declared,
  name: 'deletePost',
  method: 'DELETE',
  path: '/portal-api/posts/{post_id}',
  about: 'Deletes a post and its image; its categories and tags are not deleted.',
  params,
  returns: okResponse,
  problems: [portalProblem.not_found],
  async handle({ params: { post_id }, audit }, { posts, portal, records }: PostImageServices) {
    audit(String(post_id));
    await records.write(async () => {
      if (!(await posts.remove(post_id))) throw portalProblem.not_found({ detail: { what: 'Post' } });
      await portal.files.removeAll(toPostOwner(post_id));
    });
    return okStatus;
  },
});

export const postOperations = [listPosts, createPost, getPost, updatePost, deletePost, ...postImageOperations];
