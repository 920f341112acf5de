import { problems } from '#base/problems.ts';
import { problem as people } from '#people/problems.ts';

export const problem = problems('apis', {
  api_not_found: { status: 404, message: 'API not found' },
  detail_not_found: { status: 404, message: 'Could not retrieve API detail' },
  definition_not_found: { status: 404, message: 'API definition does not exist' },
  api_not_owned: { status: 403, message: 'You do not own this API: ask one of its owners or an administrator' },
  id_exists: { status: 409, message: 'Found API with the same ID: choose another id' },
  path_exists: {
    status: 409,
    message: 'Another API already has the listen path {path}{where}: choose another listen path',
  },
  route_taken: {
    status: 409,
    message: 'The route {path}{where} overlaps the route of another API: choose another listen path',
  },
  reference_not_owned: {
    status: 403,
    message: '{path}: references an API that you do not own: ask one of its owners or an administrator',
  },
  reference_open: {
    status: 403,
    message: '{path}: the target API depends on the request and could be one that you do not own: use the id of an API',
  },
  name_taken: { status: 409, message: 'The name {name} is taken: choose another name' },
  too_many_routes: {
    status: 409,
    message: 'The route overlaps more than {maxRoutes} others: choose another listen path',
  },
  domain_not_granted: { status: 403, message: 'The domain {domain} is not granted to this organisation' },
  path_not_granted: { status: 403, message: 'The listen path {path} is not granted to this organisation' },
  other_id: { status: 400, message: '{path}: is {given}, but the API in the path is {wanted}' },
  not_classic: {
    status: 400,
    message: 'This API is in the OpenAPI format: send its document to PUT /api/apis/{place}/{id}',
  },
  base_not_found: { status: 400, message: 'base_api_id: there is no API {id}' },
  other_form: { status: 409, message: 'An API in the other format has this ID: delete it first' },
  base_is_self: { status: 400, message: 'base_api_id: an API cannot be a version of itself' },
  base_of_other_form: { status: 400, message: 'base_api_id: a version and its base must have the same format' },
  version_name_missing: { status: 400, message: 'new_version_name: is required with base_api_id' },
  base_name_missing: { status: 400, message: 'base_api_version_name: is required for the first version of an API' },
  no_base: { status: 400, message: 'The first API is not a base API: it has no versions' },
  not_its_version: { status: 400, message: 'The second API is not a version of the first' },
  not_a_base: { status: 422, message: 'The API has no versions: it is classic, not versioned, or itself a version' },
  is_streams: { status: 400, message: 'This is a streams API: send its document to /api/apis/streams/{id}' },
  not_mcp: { status: 404, message: 'API is not an MCP Proxy' },
  too_many_to_migrate: { status: 400, message: 'all: there are more than {maxApis} classic APIs: name some in apiIDs' },
  document_missing: { status: 400, message: 'oas: is required, unless gw_oas is sent' },
  document_unavailable: { status: 400, message: 'url: responded with status {status}, not 200' },
  version_exists: { status: 409, message: 'new_version_name: the API already has a version {name}' },
});

/** Problems with APIs that the actor does not own, of every dashboard operation that writes APIs. */
export const ownershipProblems = [problem.reference_not_owned, problem.reference_open, problem.name_taken];

/** Problems with version parameters, of every dashboard operation that creates APIs. */
export const versionProblems = [
  problem.version_name_missing,
  problem.base_name_missing,
  problem.base_not_found,
  problem.base_of_other_form,
  problem.version_exists,
];

/** Problems with routes, of every operation that writes APIs. */
export const routeProblems = [
  problem.path_exists,
  problem.route_taken,
  problem.too_many_routes,
  problem.domain_not_granted,
  problem.path_not_granted,
];

/** Problems of every operation that creates APIs. */
export const creationProblems = [problem.id_exists, people.limit_reached, ...routeProblems];
