import { problems } from '#base/problems.ts';

export const problem = problems('analytics', {
  api_not_found: { status: 404, message: 'API not found' },
});
