import { problems } from '#base/problems.ts';

export const problem = problems('posts', {
  path_taken: { status: 409, message: 'Path: another post has this path' },
  label_taken: { status: 409, message: 'Name: already exists' },
});
