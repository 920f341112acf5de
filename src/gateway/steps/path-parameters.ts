import { stripMatrixParameters } from '../http/path.ts';
import { createEndpointMatcher, type Endpoint } from '../pipeline/endpoint-match.ts';
import { refuse } from '../pipeline/refusals.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step } from '../pipeline/step.ts';

type Services = Pick<PipelineServices, 'settings'>;

/**
 * Ambiguous paths: `/admin;x` is `/admin` to upstreams that strip matrix parameters. Such a request continues when
 * every endpoint list matches both readings alike, and is refused otherwise.
 */
export const pathParametersStep: Step<Services> = {
  name: 'path-parameters',
  build({ model, version, services: { settings } }) {
    if (settings['gateway.path_parameters'] !== 'check') return undefined;
    const lists: readonly (readonly (Endpoint & { readonly enabled: boolean })[])[] = Object.values(version.endpoints);
    if (lists.every(list => list.length === 0)) return undefined;
    // Compiled lazily: few APIs ever see such a request.
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
