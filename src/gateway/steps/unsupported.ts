import type { Endpoints } from '#definition/endpoints/lists.ts';
import type { AuthMethod, Model, VersionModel } from '#definition/model.ts';
import { ApiCompileError, type Step } from '../pipeline/step.ts';

/**
 * What a definition may ask for and this gateway cannot do. Serving the API without it could let in whom it keeps out,
 * or show what it hides, so the API is not served at all, and says why. Whoever builds one of these takes its row away.
 */
interface Missing {
  readonly what: string;
  asked(model: Model, version: VersionModel): boolean;
}

const modes: Partial<Record<AuthMethod, string>> = {
  custom: 'authentication by plugin',
};

const lists: Partial<Record<keyof Endpoints, string>> = {
  persistGraphql: 'persisted GraphQL operations',
  virtualEndpoint: 'virtual endpoints',
  endpointPlugin: 'plugins of endpoints',
};

const { keys, entries } = Object;
const anyOn = (list: readonly { readonly enabled: boolean }[]) => list.some(({ enabled }) => enabled);

const missing: readonly Missing[] = [
  ...entries(modes).map(([mode, what]) => ({ what, asked: ({ modes }: Model) => modes.includes(mode as AuthMethod) })),
  ...entries(lists).map(([name, what]) => ({
    what,
    asked: (_model: Model, { endpoints }: VersionModel) => anyOn(endpoints[name as keyof Endpoints]),
  })),
  { what: 'plugins', asked: ({ plugins: it }) => [it.pre, it.postAuth, it.post, it.response].some(anyOn) },
  { what: 'plugins for analytics records', asked: it => it.trafficLogs.pluginEnabled },
  { what: 'plugin bundles', asked: it => it.pluginConfig.bundleEnabled },
  {
    what: 'keys in other stores',
    asked: it =>
      [it.authProvider, it.sessionProvider].some(({ storageEngine: kind }) => kind !== '' && kind !== 'redis'),
  },
  { what: 'protocols inside HTTP', asked: it => it.identity.applicationProtocol !== '' },
  { what: 'GraphQL', asked: it => it.graphql.enabled },
  { what: 'streams', asked: it => it.form === 'streams' && keys(it.streams ?? {}).length > 0 },
];

export const unsupported: Step = {
  name: 'unsupported',
  build({ model, version }) {
    const first = missing.find(({ asked }) => asked(model, version));
    if (first) throw new ApiCompileError(`the gateway does not offer ${first.what}`);
    return undefined;
  },
};
