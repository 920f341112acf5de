import { createRequire } from 'node:module';
import type { ReadUpstreamTls } from '../auth/mirrored-metadata.ts';
import { createOauthRoutes } from '../auth/oauth/routes.ts';
import { createMetadataRoutes } from '../auth/protected-resource-metadata.ts';
import type { BuiltInRoute, BuiltInRouteContext } from '../pipeline/built-in-route.ts';
import { type CorsPolicy, createCorsPolicy } from '../steps/cors-policy.ts';
import type { StepServices } from '../steps/step-services.ts';
import { createBatchRoutes } from './batch/route.ts';

const require = createRequire(import.meta.url);
const loadPlayground = (): typeof import('../graphql/playground.ts') => require('../graphql/playground.ts');

/** Shared by the many APIs that have none. */
export const noBuiltInRoutes: ReadonlyMap<string, BuiltInRoute> = new Map();

interface RouteContext extends BuiltInRouteContext<StepServices> {
  readonly readUpstreamTls: ReadUpstreamTls;
}

/** By the path below the listen path. */
export function createBuiltInRoutes(context: RouteContext): ReadonlyMap<string, BuiltInRoute> {
  const cors = createCorsPolicy(context);
  const routes = [
    ...createOauthRoutes(context),
    ...createBatchRoutes(context),
    ...createMetadataRoutes(context),
    ...(context.model.graphql.enabled ? loadPlayground().createPlaygroundRoutes(context) : []),
  ];
  if (routes.length === 0) return noBuiltInRoutes;
  return new Map(cors ? routes.map(([path, route]) => [path, withCors(cors, route)]) : routes);
}

/** CORS for built-in routes: browsers of other origins call them too. */
const withCors =
  (cors: CorsPolicy, route: BuiltInRoute): BuiltInRoute =>
  (call, dispatch) => {
    cors.addHeaders(call);
    return call.method === 'OPTIONS' ? cors.respondToOptions(call) : route(call, dispatch);
  };
