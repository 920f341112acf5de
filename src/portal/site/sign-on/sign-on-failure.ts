import { createPublicId } from '#base/ids.ts';
import { Problem } from '#base/problems.ts';
import { isProviderOutage, SignOnRefusal } from '#people/single-sign-on/problems.ts';
import { auditForm } from '../audit.ts';
import { html } from '../markup.ts';
import { type SiteDocument, type SiteRequest, type SiteServices, toSignInUrl } from '../page.ts';

/** Attempt of one request; its members are set as soon as they are known, for the records of a failure. */
export interface PortalSignOnAttempt {
  profileId: string;
  /** Subject or user name. */
  account: string;
  next: string;
}

export const signOnAction = 'signOnToPortal';
/** Malformed and limited requests: they are neither audited nor logged. */
const unrecordedStatuses = [400, 404, 413, 429];

/** Text for the visitor; the log has the reason. */
function describeRefusal(error: unknown): { message: string; status: number } {
  if (error instanceof SignOnRefusal)
    return { message: 'The response of the identity provider was refused.', status: 403 };
  if (isProviderOutage(error))
    return { message: 'The identity provider is unavailable: try again later.', status: 502 };
  if (error instanceof Problem) return { message: `${error.message}.`, status: error.status };
  throw error;
}

/** Records a failed sign-on, and returns what its page says. Errors that were not foreseen are thrown. */
export async function recordRefusal(
  error: unknown,
  request: SiteRequest,
  attempt: PortalSignOnAttempt,
  services: SiteServices,
): Promise<{ message: string; status: number; reference: string }> {
  const refusal = describeRefusal(error);
  const reference = createPublicId();
  if (!unrecordedStatuses.includes(refusal.status)) {
    const { profileId, account } = attempt;
    const isRecorded = services.signOn.failureSampler.record({ profile: profileId, account, address: request.address });
    const fields = { profile: profileId, reason: (error as Error).message, reference };
    services.log[isRecorded ? 'warn' : 'debug'](fields, 'sign-on to the portal refused');
    if (isRecorded) await auditForm(signOnAction, request, undefined, refusal.status, services, profileId);
  }
  return { ...refusal, reference };
}

/** Page of a failed sign-on. */
export const renderSignOnFailure = (
  { message, status, reference }: { message: string; status: number; reference: string },
  { next }: PortalSignOnAttempt,
): SiteDocument => ({
  status,
  title: 'Sign-on failed',
  section: 'sign-in',
  main: html`<div class="notice" role="alert"><h1>Sign-on failed</h1><p>${message}</p>
<p class="dim">Reference for the administrator of this portal: <code>${reference}</code></p>
<p><a class="button" href="${toSignInUrl(next)}">Sign in</a></p></div>`,
});
