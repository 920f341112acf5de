import type { Model } from '#definition/model.ts';
import { ApiCompileError, type Step, type StepContext, type StepReads } from '../pipeline/step.ts';

const reads = {
  also: {
    api: ['authMethods', 'plugins', 'pluginConfig', 'trafficLogs', 'authProvider', 'sessionProvider', 'streams'],
    endpoints: ['endpointPlugin'],
  },
} as const satisfies StepReads;

type Context = StepContext<unknown, typeof reads>;

/**
 * Unsupported features. Serving the API without one could admit clients it excludes or reveal what it hides, so the API
 * is not served and its status has the reason. Implementing a feature removes its row.
 */
interface UnsupportedFeature {
  readonly feature: string;
  isUsed(model: Context['model'], version: Context['version']): boolean;
}

const { keys } = Object;
const anyEnabled = (list: readonly { readonly enabled: boolean }[]) => list.some(({ enabled }) => enabled);

const unsupportedFeatures: readonly UnsupportedFeature[] = [
  ...['python', 'lua', 'goplugin'].map(driver => ({
    feature: `plugins of the driver ${driver}`,
    isUsed: (
      { authMethods, pluginConfig, plugins: it, trafficLogs }: Context['model'],
      { endpoints }: Context['version'],
    ) =>
      pluginConfig.driver === driver &&
      (authMethods.includes('custom') ||
        trafficLogs.pluginEnabled ||
        [it.pre, it.postAuth, it.post, it.response, endpoints.endpointPlugin].some(anyEnabled)),
  })),
  {
    feature: 'keys in other stores',
    isUsed: it =>
      [it.authProvider, it.sessionProvider].some(({ storageEngine: kind }) => kind !== '' && kind !== 'redis'),
  },
  {
    feature: 'protocols inside HTTP in the classic format',
    isUsed: it => it.format !== 'mcp' && it.identity.applicationProtocol !== '',
  },
  {
    feature: 'several plugins of analytics records',
    isUsed: ({ trafficLogs: it }) => it.enabled && anyEnabled(it.plugins.slice(1)),
  },
  { feature: 'streams', isUsed: it => it.format === 'streams' && keys(it.streams ?? {}).length > 0 },
];

/** Features of a definition that the gateway does not offer: an API with one is not served. */
export const listUnsupportedFeatures = (model: Model): string[] =>
  unsupportedFeatures
    .filter(({ isUsed }) => model.versions.some(version => isUsed(model, version)))
    .map(({ feature }) => feature);

export const unsupportedStep: Step<unknown, typeof reads> = {
  name: 'unsupported',
  reads,
  build({ model, version }) {
    const first = unsupportedFeatures.find(({ isUsed }) => isUsed(model, version));
    if (first) throw new ApiCompileError(`the gateway does not offer ${first.feature}`);
    return undefined;
  },
};
