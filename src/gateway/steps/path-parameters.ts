import { stripMatrixParameters } from '../http/path.ts';
import { createEndpointMatcher, type Endpoint } from '../pipeline/endpoint-match.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * `/admin;x` is `/admin` to upstreams that take parameters off segments, and something else to others. Such a call goes on
 * where every endpoint list says the same of both, and is refused where one does not.
 */
export const pathParametersStep: Step = {
  name: 'path-parameters',
  build({ model, version, services: { settings } }) {
    if (settings['gateway.path_parameters'] !== 'check') return undefined;
    const lists: readonly (readonly (Endpoint & { readonly enabled: boolean })[])[] = Object.values(version.endpoints);
    if (lists.every(list => list.length === 0)) return undefined;
    // Few APIs ever see such a call: the patterns are compiled a second time for those that do.
    const createMatcher = () => {
      const entries = lists.flatMap(list => list.filter(({ enabled }) => enabled !== false));
      return createEndpointMatcher(entries, { model, version, settings });
    };
    let matchers: ReturnType<typeof createMatcher> | null = null;
    return {
      request(call) {
        if (!call.isPathAmbiguous) return undefined;
        if (matchers === null) matchers = createMatcher();
        if (!matchers) return undefined;
        const matchedAsSent = matchers.all(call);
        const matchedStripped = matchers.all(call, stripMatrixParameters);
        const same =
          matchedAsSent.length === matchedStripped.length &&
          matchedAsSent.every((entry, i) => entry === matchedStripped[i]);
        return same ? undefined : refuse(call, 'path_ambiguous');
      },
    };
  },
};
