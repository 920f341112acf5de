import { createPublicId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import { toDatabaseProblem } from '#storage/database-errors.ts';
import { problem } from './problems.ts';
import type { Surface } from './surfaces.ts';

export interface RenderedProblem {
  readonly code: string;
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/** Codes of invalid requests; surfaces differ in their status. */
const isValidationCode = (code: string) => code === problem.invalid.code || code.startsWith('json.');

/**
 * The only mapping from problems to responses. Unexpected errors are logged with a reference that the client can quote.
 */
export function renderProblem(error: unknown, surface: Surface, log: Log): RenderedProblem {
  const known = toKnownProblem(error) ?? toUnexpectedProblem(error, log);
  const isUnauthenticated = known.code === problem.not_authorised.code;
  const status = isUnauthenticated
    ? surface.unauthorizedStatus
    : isValidationCode(known.code)
      ? surface.invalidStatus
      : known.status;
  const message = (isUnauthenticated && surface.unauthorizedMessage) || known.message;
  const retryAfter = known.detail.retryAfter;
  return {
    code: known.code,
    status,
    body: { ...surface.render(message, known.detail.lines as string[] | undefined), ...(known.detail.members ?? {}) },
    headers: retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  };
}

function toKnownProblem(error: unknown): Problem | undefined {
  if (error instanceof Problem) return error;
  const { code, statusCode, message } = (error ?? {}) as { code?: string; statusCode?: number; message?: string };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return problem.too_large({ message: 'The request body is too large' });
  if (code?.startsWith('FST_') && statusCode !== undefined && statusCode < 500) {
    return new Problem('http', { status: statusCode, message: message ?? 'Bad request' });
  }
  return toDatabaseProblem(error);
}

function toUnexpectedProblem(error: unknown, log: Log): Problem {
  const reference = createPublicId();
  log.error({ err: error, reference }, 'unexpected failure');
  return problem.unexpected({ detail: { reference }, cause: error });
}
