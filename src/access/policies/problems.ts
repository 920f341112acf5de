import { problems } from '#base/problems.ts';

export const problem = problems('policies', {
  not_found: { status: 404, message: 'Policy not found' },
  name_exists: { status: 409, message: 'A policy named {name} already exists in this organisation' },
  id_exists: { status: 409, message: 'A policy with the id {id} already exists' },
  id_changed: { status: 400, message: '{member}: is {current} and cannot change: keys reference the policy by it' },
  id_missing: { status: 400, message: 'Unable to create policy without id.' },
  id_unusable: {
    status: 400,
    message: 'Invalid Policy ID: Allowed characters: a-z, A-Z, 0-9, ., _, -, ~',
  },
  id_mismatch: {
    status: 400,
    message: 'Request ID does not match that in policy! For Update operations these must match.',
  },
  several: {
    status: 409,
    message: 'Several organisations have a policy with this id: set org_id',
  },
  exists: { status: 409, message: 'A policy with the same id or name already exists' },
});
