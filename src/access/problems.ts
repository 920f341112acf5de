import { problems } from '#base/problems.ts';

/** Problems shared by keys, policies and OAuth clients. */
export const problem = problems('access', {
  api_not_found: { status: 404, message: "API doesn't exist" },
  organisation_unknown: { status: 400, message: 'org_id: there is no organisation {id}' },
});
