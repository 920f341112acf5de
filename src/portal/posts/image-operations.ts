import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { imageTypes } from '../files/image.ts';
import { fileResponse, uploadedFile } from '../files/shapes.ts';
import { requireImage } from '../files/uploaded-image.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus } from '../shapes.ts';
import type { PostStore } from './store.ts';

export interface PostImageServices extends Pick<PortalServices, 'portal' | 'records' | 'clock'> {
  posts: PostStore;
}

/** Owner of the files of a post in the file store. */
export const toPostOwner = (postId: number): string => `posts/${postId}`;
export const postImageSlot = 'image';

const declared = { surface: 'portal', noun: 'posts', permission: 'secret' } as const;
const params = z.object({ post_id: numberedId });
const path = '/portal-api/posts/{post_id}/image';
const missingImage = () => problem.image_missing({ detail: { owner: 'post', image: postImageSlot } });

export const getPostImage = operation({
  ...declared,
  name: 'getPostImage',
  method: 'GET',
  path,
  about: 'Returns the image of a post.',
  params,
  returns: fileResponse,
  producesFile: imageTypes,
  problems: [problem.not_found, problem.image_missing],
  async handle({ params: { post_id } }, { posts, portal }: PostImageServices) {
    const { ID } = present(await posts.get(post_id), 'Post');
    const file = await portal.files.find(toPostOwner(ID), postImageSlot);
    if (!file) throw missingImage();
    return file;
  },
});

export const uploadPostImage = operation({
  ...declared,
  name: 'uploadPostImage',
  method: 'POST',
  path,
  about: 'Stores the image of a post, above its text and on its card: PNG, JPEG, GIF or WebP.',
  params,
  accepts: 'upload',
  body: uploadedFile,
  returns: okResponse,
  problems: [problem.unknown, problem.image_refused, problem.image_too_large],
  async handle({ params: { post_id }, body, audit }, { posts, portal, records, clock }: PostImageServices) {
    audit(String(post_id));
    present(await posts.get(post_id), 'Post', 'unknown');
    const image = requireImage(body);
    await records.write(async () => {
      const now = clock.now();
      present(await posts.change(post_id, it => ({ ...it, ImageAt: now, UpdatedAt: now })), 'Post', 'unknown');
      await portal.files.put(toPostOwner(post_id), postImageSlot, image, now);
    });
    return okStatus;
  },
});

export const deletePostImage = operation({
  ...declared,
  name: 'deletePostImage',
  method: 'DELETE',
  path,
  about: 'Deletes the image of a post.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.image_missing],
  async handle({ params: { post_id }, audit }, { posts, portal, records, clock }: PostImageServices) {
    audit(String(post_id));
    await records.write(async () => {
      const changed = await posts.change(post_id, it => {
        if (!it.ImageAt) throw missingImage();
        return { ...it, ImageAt: 0, UpdatedAt: clock.now() };
      });
      present(changed, 'Post');
      await portal.files.remove(toPostOwner(post_id), postImageSlot);
    });
    return okStatus;
  },
});

export const postImageOperations = [getPostImage, uploadPostImage, deletePostImage];
