import { problems } from '#base/problems.ts';

export const problem = problems('analytics', {
  owned_counts_only: {
    status: 403,
    message: 'access denied: owned_analytics shows counts of the APIs you own, not {what}',
  },
  api_not_found: { status: 404, message: 'API not found' },
});
