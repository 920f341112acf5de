import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeMarkup } from '#base/escape-markup.ts';
import { createPublicId } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor } from '#operations/actor.ts';
import type { WriteAudit } from '#operations/audit.ts';
import { renderProblem } from '#operations/render.ts';
import { formatSessionCookie } from '#operations/session-cookie.ts';
import { surfaces } from '#operations/surfaces.ts';
import { usesTls } from '../sessions/dashboard-url.ts';
import { unknownActor } from '../sessions/sign-in.ts';
import type { FailedSignOn, FailureSampler } from './failure-sampler.ts';
import { isProviderOutage, problem, SignOnRefusal } from './problems.ts';
import type { OpenedSignOn, SignOnClient } from './sign-on.ts';

export interface SignOnReplyServices {
  settings: Settings;
  writeAudit: WriteAudit;
  failureSampler: FailureSampler;
  log: Log;
}

/** Attempt of one request: its organisation is set as soon as it is established, for the audit record of a failure. */
export interface SignOnAttempt {
  orgId: string;
  /** Identity profile, or `nonce`. */
  object: string;
  /** Action of audit records; default `signOn`. */
  readonly action?: 'signOn' | 'singleLogout' | 'signOnTest';
  /** Account of the attempt, as soon as it is established, for the sampling of failures. */
  account?: string;
}

export interface CompletedSignOn {
  readonly opened: OpenedSignOn;
  /** Path of the dashboard to continue at. */
  readonly next: string;
}

export const toSignOnClient = ({ ip, headers }: FastifyRequest): SignOnClient => ({
  address: ip,
  userAgent: headers['user-agent'] ?? '',
});

/** Runs a sign-on: sets the session cookie and redirects, or responds with the reason, and writes the audit record. */
export async function replyWithSession(
  services: SignOnReplyServices,
  request: FastifyRequest,
  reply: FastifyReply,
  signOn: (attempt: SignOnAttempt) => Promise<CompletedSignOn>,
): Promise<FastifyReply> {
  const attempt: SignOnAttempt = { orgId: '', object: '' };
  reply.header('referrer-policy', 'no-referrer');
  try {
    const { opened, next } = await signOn(attempt);
    await auditSignOn(services, request, opened.actor, 303, attempt);
    const { settings } = services;
    const isSecure = usesTls(settings, request.protocol === 'https');
    const cookie = formatSessionCookie(opened.token, settings['sessions.max_age_seconds'], isSecure);
    return reply.header('set-cookie', cookie).redirect(next, 303);
  } catch (error) {
    return replyWithFailure(services, request, reply, error, attempt);
  }
}

/** Malformed and limited requests: they are neither audited nor logged. */
const unrecordedStatuses = [400, 413, 429];

/** Responds with the reason of a failed sign-on, as a page or as JSON, and writes the audit record. */
export async function replyWithFailure(
  services: SignOnReplyServices,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
  attempt: SignOnAttempt,
): Promise<FastifyReply> {
  const { log, failureSampler } = services;
  const { orgId } = attempt;
  const isUnrecorded =
    error instanceof Problem && !isProviderOutage(error) && unrecordedStatuses.includes(error.status);
  const isRecorded = orgId !== '' && !isUnrecorded && failureSampler.record(toFailedSignOn(request, attempt));
  const shown = toSignOnProblem(error, log, isRecorded ? 'warn' : 'debug', attempt);
  const { status, body, headers } = renderProblem(shown, surfaces.dashboard, log);
  if (isRecorded) await auditSignOn(services, request, { ...unknownActor, orgId }, status, attempt);
  reply.code(status).headers(headers);
  if (!request.headers.accept?.includes('text/html')) return reply.type('application/json').send(JSON.stringify(body));
  return reply.type('text/html; charset=utf-8').send(renderFailure((body as { Message: string }).Message, attempt));
}

export const toFailedSignOn = (
  { ip }: FastifyRequest,
  { orgId, object, account = '' }: SignOnAttempt,
): FailedSignOn => ({
  profile: JSON.stringify([orgId, object]),
  account,
  address: ip,
});

/** The log has the reason of a refusal, the response its reference. */
function toSignOnProblem(error: unknown, log: Log, level: 'warn' | 'debug', attempt: SignOnAttempt): unknown {
  const isRefusal = error instanceof SignOnRefusal;
  if (!isRefusal && !isProviderOutage(error)) return error;
  const reference = createPublicId();
  const fields = { profile: attempt.object, reason: (error as Error).message, reference };
  const refused = attempt.action === 'singleLogout' ? 'single logout refused' : 'sign-on refused';
  log[level](fields, isRefusal ? refused : 'identity provider unavailable');
  const createProblem = isRefusal ? problem.response_invalid : problem.provider_unavailable;
  return createProblem({ detail: { reference }, cause: error });
}

export const auditSignOn = (
  { writeAudit }: SignOnReplyServices,
  { method, url, ip }: FastifyRequest,
  actor: Actor,
  status: number,
  { orgId, object, action = 'signOn' }: SignOnAttempt,
) =>
  // Codes, nonces and assertions are credentials: the record has the path only.
  writeAudit({
    actor,
    orgId: orgId || actor.orgId,
    action,
    method,
    url: url.split('?')[0]!,
    status,
    ip,
    object,
  });

function renderFailure(message: string, { action }: SignOnAttempt): string {
  const title = action === 'singleLogout' ? 'Sign-out failed' : 'Sign-on failed';
  return [
    `<!doctype html><html lang="en"><title>${title}</title><h1>${title}</h1>`,
    `<p>${escapeMarkup(message)}</p><p><a href="/">Continue to the dashboard</a></p></html>`,
  ].join('\n');
}
