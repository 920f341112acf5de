import { problems } from '#base/problems.ts';

/** Problems common to all operations. */
export const problem = problems('operation', {
  not_authorised: { status: 401, message: 'Not authorised' },
  not_permitted: { status: 403, message: 'access denied: you need {permission}; ask your administrator for it' },
  csrf_token_wrong: {
    status: 403,
    message: 'X-CSRF-Token is missing or wrong: send csrf_token of GET {prefix}/session with every write',
  },
  invalid: { status: 400, message: '{faults}' },
  too_large: { status: 413, message: 'The request body is larger than {maxBytes} bytes' },
  too_many_bodies: { status: 503, message: 'Too many large requests are in progress: try again in a few seconds' },
  wrong_type: { status: 415, message: 'Content-Type must be {accepted}' },
  unknown_route: { status: 404, message: 'There is no operation {method} {path}' },
  malformed_path: { status: 400, message: 'The path is not a well-formed URL' },
  malformed_tag: { status: 400, message: 'If-Match and If-None-Match take * or entity tags in quotes, not {text}' },
  condition_unsupported: { status: 400, message: 'This operation has no version to compare: leave out {name}' },
  version_changed: {
    status: 412,
    message: 'The object has changed since it was read, or does not exist: read it again, and repeat the change',
  },
  version_exists: { status: 412, message: 'The object exists already, in a version that If-None-Match excludes' },
  wait_unsupported: {
    status: 400,
    message: 'wait: this operation changes nothing that traffic threads serve: leave out wait',
  },
  too_many_waits: {
    status: 429,
    message: 'The organisation has {max} requests with wait=applied in progress: leave out wait, or try again later',
  },
  idempotency_key_invalid: {
    status: 400,
    message: 'Idempotency-Key must have 1 to 255 printable ASCII characters without spaces',
  },
  change_note_invalid: {
    status: 400,
    message: 'X-Gw-Change-Note must be percent-encoded text of at most 500 characters, without control characters',
  },
  idempotency_key_unsupported: { status: 400, message: 'This operation cannot be repeated: leave out Idempotency-Key' },
  idempotency_key_with_password: {
    status: 400,
    message: 'A create with a password cannot be repeated: leave out Idempotency-Key',
  },
  idempotency_key_reused: { status: 422, message: 'Idempotency-Key was used for another request: use a new key' },
  revision_not_found: { status: 404, message: 'There is no revision {revision}, or it is no longer stored' },
  revision_deleted: {
    status: 409,
    message: 'Revision {revision} is the removal of the object: restore an earlier one, or delete the object',
  },
  has_dependents: {
    status: 409,
    message: 'Other objects depend on it: {list}; change or delete them first, or delete it with force=true',
  },
  wrong_method: { status: 405, message: 'Method not supported' },
  too_many_failures: {
    status: 429,
    message: 'Too many wrong credentials from your address; try again in {seconds} seconds',
  },
  too_many_streams: {
    status: 429,
    message: 'The {scope} has {max} open event streams, the maximum: close one, or try again later',
  },
  unexpected: { status: 500, message: 'Internal error; quote {reference} when you report it' },
});

/** Object too many of an organisation, by its grants: the code is that of `people`, which has them. */
export const limitReached = problems('people', {
  limit_reached: { status: 403, message: 'limit reached: {name} {max}' },
}).limit_reached;
