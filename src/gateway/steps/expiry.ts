import { formatHttpDate } from '#base/clock.ts';
import { hasOwnVersions } from '#definition/model.ts';
import { refuseAccess } from '../pipeline/refusals.ts';
import type { RefusalCode } from '../pipeline/refusals-table.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepContext } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'clock' | 'emitEvent'>;

/** Expiry of an API or version; the time is in a response header. */
export const expiryStep: Step<Services> = {
  name: 'expiry',
  build({ model, version, services }) {
    const { text, code } = selectExpiry(model, version);
    if (text === '' || text === '-1') return undefined;
    // An invalid time counts as expired: fail closed.
    const endsAtMs = parseExpiry(text) ?? Number.NEGATIVE_INFINITY;
    const expiresText = Number.isFinite(endsAtMs) ? formatHttpDate(endsAtMs) : '';
    return {
      request(call) {
        if (services.clock.now() < endsAtMs) {
          call.extraResponseHeaders ??= [];
          call.extraResponseHeaders.push('x-gw-api-expires', expiresText);
          return undefined;
        }
        return refuseAccess(services, call, code);
      },
    };
  },
};

function selectExpiry(
  model: StepContext['model'],
  { version }: StepContext['version'],
): { text: string; code: RefusalCode } {
  return hasOwnVersions(model)
    ? { text: version.expires, code: 'version_expired' }
    : { text: model.identity.expiration, code: 'api_expired' };
}

/** `YYYY-MM-DD HH:MM`, in UTC. */
function parseExpiry(text: string): number | undefined {
  const found = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2})$/.exec(text.trim());
  const ms = found ? Date.parse(`${found[1]}T${found[2]}:00Z`) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
