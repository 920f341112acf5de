import { problems } from '#base/problems.ts';

/** Problems common to all operations. */
export const problem = problems('operation', {
  not_authorised: { status: 401, message: 'Not authorised' },
  not_permitted: { status: 403, message: 'access denied: you need {permission}; ask your administrator for it' },
  csrf_token_wrong: {
    status: 403,
    message: 'X-CSRF-Token is missing or wrong: send csrf_token of GET /api/session with every write',
  },
  invalid: { status: 400, message: '{faults}' },
  too_large: { status: 413, message: 'The request body is larger than {maxBytes} bytes' },
  wrong_type: { status: 415, message: 'Content-Type must be {accepted}' },
  unknown_route: { status: 404, message: 'There is no operation {method} {path}' },
  malformed_path: { status: 400, message: 'The path is not a well-formed URL' },
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
