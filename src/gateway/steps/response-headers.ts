import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Step, StepContext } from '../pipeline/step.ts';
import { applyChange, type HeaderWish, headerChange } from './header-changes.ts';
import { injectedHeaders } from './response-processors.ts';

/** Headers changed on the way back: for an endpoint, then for the version, then by processors of the API. */
export const responseHeaders: Step = {
  name: 'response-headers',
  build(context) {
    const { version, services } = context;
    const entries = version.endpoints.transformResponseHeaders.flatMap(entry => {
      const change = headerChange(entry, services);
      return change ? [{ path: entry.path, method: entry.method, change }] : [];
    });
    const endpoints = endpointMatcher(entries, { ...context, settings: services.settings });
    const everywhere = wishes(context).flatMap(wish => headerChange(wish, services) ?? []);
    if (!endpoints && everywhere.length === 0) return undefined;
    return {
      response(call, response) {
        const here = endpoints?.find(call);
        if (here) applyChange(here.change, call, response.headers);
        for (const change of everywhere) applyChange(change, call, response.headers);
      },
    };
  },
};

function wishes({ model, version }: StepContext): HeaderWish[] {
  const own = version.responseHeaders.enabled ? [version.responseHeaders] : [];
  return [...own, ...injectedHeaders(model, version)];
}
