import { plainSpelling } from '../http/path.ts';
import { type Endpoint, endpointMatcher } from '../pipeline/endpoint-match.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { Step } from '../pipeline/step.ts';

/**
 * `/admin;x` is `/admin` to upstreams that take parameters off segments, and something else to others. Such a call goes on
 * where every endpoint list says the same of both, and is refused where one does not.
 */
export const pathParameters: Step = {
  name: 'path-parameters',
  build({ model, version, services: { settings } }) {
    if (settings['gateway.path_parameters'] !== 'check') return undefined;
    const lists: readonly (readonly (Endpoint & { readonly enabled: boolean })[])[] = Object.values(version.endpoints);
    if (lists.every(list => list.length === 0)) return undefined;
    // Few APIs ever see such a call: the patterns are compiled a second time for those that do.
    const matcher = () => {
      const entries = lists.flatMap(list => list.filter(({ enabled }) => enabled !== false));
      return endpointMatcher(entries, { model, version, settings });
    };
    let known: ReturnType<typeof matcher> | null = null;
    return {
      request(call) {
        if (!call.isPathAmbiguous) return undefined;
        if (known === null) known = matcher();
        if (!known) return undefined;
        const written = known.all(call);
        const plain = known.all(call, plainSpelling);
        const same = written.length === plain.length && written.every((entry, at) => entry === plain[at]);
        return same ? undefined : refuse(call, 'path_twofold');
      },
    };
  },
};
