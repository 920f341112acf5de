import { problems } from '#base/problems.ts';

export const problem = problems('notifications', {
  account_required: {
    status: 409,
    message: 'Read and muted notifications are stored with an account: a single sign-on without one has none',
  },
});
