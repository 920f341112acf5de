import { problems } from '#base/problems.ts';

export const problem = problems('examples', {
  example_not_found: { status: 404, message: 'Example not found' },
  index_invalid: { status: 400, message: 'The index of examples is not valid: {reason}' },
  address_not_permitted: { status: 403, message: '{header}: access denied: you need apis:write' },
  file_unavailable: { status: 400, message: '{file}: the server responded with status {status}' },
});
