import type { Endpoints } from '#definition/endpoints/endpoint-lists.ts';
import type { AuthMethod, Model, VersionModel } from '#definition/model.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';

/**
 * Unsupported features. Serving the API without one could admit clients it excludes or reveal what it hides, so the API
 * is not served and its status says why. Implementing a feature removes its row.
 */
interface UnsupportedFeature {
  readonly feature: string;
  isUsed(model: Model, version: VersionModel): boolean;
}

const featureByMethod: Partial<Record<AuthMethod, string>> = {
  custom: 'authentication by plugin',
};

const lists: Partial<Record<keyof Endpoints, string>> = {
  persistGraphql: 'persisted GraphQL operations',
  virtualEndpoint: 'virtual endpoints',
  endpointPlugin: 'plugins of endpoints',
};

const { keys, entries } = Object;
const anyEnabled = (list: readonly { readonly enabled: boolean }[]) => list.some(({ enabled }) => enabled);

const unsupportedFeatures: readonly UnsupportedFeature[] = [
  ...entries(featureByMethod).map(([mode, feature]) => ({
    feature,
    isUsed: ({ authMethods }: Model) => authMethods.includes(mode as AuthMethod),
  })),
  ...entries(lists).map(([name, feature]) => ({
    feature,
    isUsed: (_model: Model, { endpoints }: VersionModel) => anyEnabled(endpoints[name as keyof Endpoints]),
  })),
  { feature: 'plugins', isUsed: ({ plugins: it }) => [it.pre, it.postAuth, it.post, it.response].some(anyEnabled) },
  { feature: 'plugins for analytics records', isUsed: it => it.trafficLogs.pluginEnabled },
  { feature: 'plugin bundles', isUsed: it => it.pluginConfig.bundleEnabled },
  {
    feature: 'keys in other stores',
    isUsed: it =>
      [it.authProvider, it.sessionProvider].some(({ storageEngine: kind }) => kind !== '' && kind !== 'redis'),
  },
  { feature: 'protocols inside HTTP', isUsed: it => it.identity.applicationProtocol !== '' },
  { feature: 'GraphQL', isUsed: it => it.graphql.enabled },
  { feature: 'streams', isUsed: it => it.form === 'streams' && keys(it.streams ?? {}).length > 0 },
];

export const unsupportedStep: Step = {
  name: 'unsupported',
  build({ model, version }) {
    const first = unsupportedFeatures.find(({ isUsed }) => isUsed(model, version));
    if (first) throw new ApiCompileError(`the gateway does not offer ${first.feature}`);
    return undefined;
  },
};
