import { problems } from '#base/problems.ts';

/** Problems shared by keys, policies and OAuth clients. */
export const problem = problems('access', {
  api_not_found: { status: 404, message: "API doesn't exist" },
  has_dependents: {
    status: 409,
    message: 'Other objects depend on it: {list}; change or delete them first, or delete it with force=true',
  },
  organisation_unknown: { status: 400, message: 'org_id: there is no organisation {id}' },
});
