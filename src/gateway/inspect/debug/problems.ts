import { problems } from '#base/problems.ts';

export const problem = problems('debug', {
  spec_missing: { status: 400, message: 'Spec field is missing' },
  request_missing: { status: 400, message: 'Request field is missing' },
  chain_not_built: { status: 400, message: 'error' },
  too_many_runs: { status: 429, message: 'The organisation may test {maxRunsPerMinute} requests in a minute' },
  nothing_written: {
    status: 503,
    message: 'The test of a definition cannot write: this step would change stored data',
  },
});
