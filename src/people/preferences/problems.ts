import { problems } from '#base/problems.ts';

export const problem = problems('preferences', {
  account_required: {
    status: 409,
    message: 'Preferences are stored with an account: a single sign-on without one has the defaults',
  },
});
