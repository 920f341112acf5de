import { problems } from '#base/problems.ts';

export const problem = problems('examples', {
  example_not_found: { status: 404, message: 'Example not found' },
  index_invalid: { status: 400, message: 'The index of examples is not valid: {reason}' },
  file_unavailable: { status: 400, message: '{file} was answered with status {status}' },
});
