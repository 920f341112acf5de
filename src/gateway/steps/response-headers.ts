import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Step, StepContext } from '../pipeline/step.ts';
import { applyChange, type HeaderWish, headerChange } from './header-changes.ts';
import { injectedHeaders } from './response-processors.ts';

/** Headers changed on the way back: for an endpoint, then for the version, then by processors of the API. */
export const responseHeaders: Step = {
  name: 'response-headers',
  make(context) {
    const { version, tools } = context;
    const entries = version.endpoints.transformResponseHeaders.flatMap(entry => {
      const change = headerChange(entry, tools);
      return change ? [{ path: entry.path, method: entry.method, change }] : [];
    });
    const endpoints = endpointMatcher(entries, { ...context, settings: tools.settings });
    const everywhere = wishes(context).flatMap(wish => headerChange(wish, tools) ?? []);
    if (!endpoints && everywhere.length === 0) return undefined;
    return {
      response(call, given) {
        const here = endpoints?.find(call);
        if (here) applyChange(here.change, call, given.headers);
        for (const change of everywhere) applyChange(change, call, given.headers);
      },
    };
  },
};

function wishes({ model, version }: StepContext): HeaderWish[] {
  const own = version.responseHeaders.enabled ? [version.responseHeaders] : [];
  return [...own, ...injectedHeaders(model, version)];
}
