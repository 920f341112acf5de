import { problems } from '#base/problems.ts';

export const problem = problems('policies', {
  not_found: { status: 404, message: 'Policy not found' },
  name_exists: { status: 409, message: 'A policy named {name} already exists in this organisation' },
  id_exists: { status: 409, message: 'A policy with the id {id} already exists' },
  id_changed: { status: 400, message: '{member}: is {kept} and cannot change, keys name the policy by it' },
  exists: { status: 409, message: 'A policy with the same id or name already exists' },
});
