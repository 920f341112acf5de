import { authMethods } from '#definition/auth-methods.ts';
import { listCredentialSources, removeQueryParameter } from '../auth/credential-sources.ts';
import { removeCookie } from '../http/cookies.ts';
import type { Step, StepReads } from '../pipeline/step.ts';

const reads = {
  api: ['authentication'],
  also: { api: ['authMethods', 'securityRequirements', 'oauth2', ...authMethods] },
} as const satisfies StepReads;

/** Removes credentials before forwarding, on open endpoints too. */
export const stripAuthStep: Step<unknown, typeof reads> = {
  name: 'strip-auth',
  reads,
  build({ model }) {
    if (!model.authentication.stripAuthorizationData || model.authMethods.length === 0) return undefined;
    const places = listCredentialSources(model);
    const unique = (names: readonly string[]) => [...new Set(names)].filter(Boolean);
    const headers = unique(places.map(({ header }) => header));
    const parameters = unique(places.map(({ query }) => query));
    const cookies = unique(places.map(({ cookie }) => cookie));
    return {
      request(call) {
        for (const name of headers) call.headers.remove(name);
        for (const name of parameters) call.query = removeQueryParameter(call.query, name);
        for (const name of cookies) removeCookie(call.headers, name);
        return undefined;
      },
    };
  },
};
