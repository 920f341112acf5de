import { problems } from '#base/problems.ts';

export const problem = problems('configuration', {
  objects_invalid: { status: 400, message: 'Nothing was changed: {faults}' },
  files_invalid: { status: 400, message: '{faults}' },
  run_in_progress: { status: 409, message: 'Another plan or apply is running: try again when it has ended' },
  run_timed_out: {
    status: 503,
    message: 'Nothing was changed: the run took longer than {seconds} seconds. Send fewer changes at once',
  },
  run_outdated: {
    status: 409,
    message: 'Nothing was changed: the configuration changed several times while its rules were evaluated. Try again',
  },
  /** No client gets it: it is in the audit record. */
  run_abandoned: { status: 503, message: 'Nothing was changed: the client closed the connection' },
  cursor_invalid: { status: 400, message: 'after: is not the next of an earlier response' },
});
