import { limitStream } from '../pipeline/body-limit.ts';
import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';

/** Their bodies mean nothing, and are rarely there. */
const exempt = new Set(['GET', 'DELETE', 'TRACE', 'OPTIONS', 'HEAD']);
const none = Number.POSITIVE_INFINITY;

/** How large a body may be: for every endpoint of a version, and for single ones. Both count. */
export const sizeLimit: Step = {
  name: 'size-limit',
  build({ model, version, services }) {
    const { enabled, bytes } = version.requestSizeLimit;
    const everywhere = enabled && bytes > 0 ? bytes : none;
    const entries = version.endpoints.requestSizeLimit.filter(entry => entry.bytes > 0);
    const matcher = endpointMatcher(entries, { model, version, settings: services.settings });
    if (everywhere === none && !matcher) return undefined;
    const mustSay = services.settings['gateway.require_content_length'];
    return {
      request(call) {
        if (exempt.has(call.method)) return undefined;
        const most = Math.min(everywhere, matcher?.find(call)?.bytes ?? none);
        return most === none ? undefined : held(call, most, mustSay);
      },
    };
  },
};

function held(call: Exchange, most: number, mustSay: boolean) {
  const said = call.headers.get('content-length');
  if (said === undefined) {
    if (mustSay) return refuse(call, 'length_required');
    limitStream(call, most);
    return undefined;
  }
  if (!/^\d+$/.test(said)) return refuse(call, 'length_invalid');
  return Number(said) > most ? refuse(call, 'request_too_large') : undefined;
}
