import { problems } from '#base/problems.ts';

export const problem = problems('system', {
  node_not_found: { status: 404, message: 'Node not found' },
  statistics_not_found: { status: 404, message: 'No statistics found between {start} and {end}' },
});
