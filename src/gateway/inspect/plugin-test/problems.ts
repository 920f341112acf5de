import { problems } from '#base/problems.ts';

export const problem = problems('plugin_test', {
  name_missing: {
    status: 400,
    message: 'name: the code defines {found} hooks: name the one to run',
  },
  response_missing: { status: 400, message: 'response: a hook of the type response needs one' },
  request_invalid: { status: 400, message: 'request: {fault}' },
  session_refused: { status: 400, message: 'session: {fault}' },
});
