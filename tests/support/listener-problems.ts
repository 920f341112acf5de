import { problem as apis } from '#apis/problems.ts';
import type { AnyOperation } from '#operations/operation.ts';
import { problem } from '#operations/problems.ts';
import { problem as people } from '#people/problems.ts';

/** Problems that the listener returns for any operation, before or around its handler: no operation declares them. */

/** Request syntax, storage, Fastify, the length and load of passwords that are hashed, and traffic threads that fail. */
const listenerModules: ReadonlySet<string> = new Set([
  'json',
  'zip',
  'database',
  'http',
  'vault',
  'files',
  'passwords',
  'thread_rpc',
  'data_plane',
]);

const listenerCodes: ReadonlySet<string> = new Set(
  [
    problem.not_authorised,
    problem.not_permitted,
    problem.csrf_token_wrong,
    problem.invalid,
    problem.too_large,
    problem.wrong_type,
    problem.malformed_path,
    problem.malformed_tag,
    problem.condition_unsupported,
    problem.version_changed,
    problem.version_exists,
    problem.change_note_invalid,
    problem.idempotency_key_invalid,
    problem.idempotency_key_unsupported,
    problem.idempotency_key_with_password,
    problem.idempotency_key_reused,
    problem.too_many_failures,
    problem.unexpected,
    problem.wait_unsupported,
    problem.too_many_waits,
  ].map(({ code }) => code),
);

/** Of any operation of the dashboard: rules of the organisation, and APIs that others own. */
const dashboardCodes: ReadonlySet<string> = new Set(
  [people.rules_denied, people.rules_unavailable, apis.api_not_owned].map(({ code }) => code),
);

export const isListenerProblem = ({ surface }: AnyOperation, code: string): boolean =>
  listenerModules.has(code.split('.')[0]!) ||
  listenerCodes.has(code) ||
  (surface === 'dashboard' && dashboardCodes.has(code));
