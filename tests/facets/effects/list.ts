import type { Effect } from '../effect.ts';
import { bodies, filters } from './bodies.ts';
import { caches } from './caches.ts';
import { callers } from './callers.ts';
import { checks } from './checks.ts';
import { endpoints } from './endpoints.ts';
import { graphqlEffects } from './graphql.ts';
import { dataGraphEffects } from './graphql-data-graph.ts';
import { supergraphEffects } from './graphql-supergraph.ts';
import { listeners } from './listeners.ts';
import { pages } from './pages.ts';
import { pluginBodyEffects } from './plugin-bodies.ts';
import { pluginEffects } from './plugins.ts';
import { resilience } from './resilience.ts';
import { scopes } from './scopes.ts';
import { server } from './server.ts';
import { transforms } from './transforms.ts';
import { upstreamAuth } from './upstream-auth.ts';
import { uptimeResults } from './uptime-results.ts';
import { versions } from './versions.ts';

export const effects: readonly Effect[] = [
  ...resilience,
  ...graphqlEffects,
  ...dataGraphEffects,
  ...supergraphEffects,
  ...listeners,
  ...pages,
  ...pluginEffects,
  ...pluginBodyEffects,
  ...caches,
  ...bodies,
  ...filters,
  ...callers,
  ...checks,
  ...endpoints,
  ...scopes,
  ...server,
  ...transforms,
  ...upstreamAuth,
  ...uptimeResults,
  ...versions,
];
