import type { Model } from '#definition/model.ts';
import { createOauthRoutes } from '../auth/oauth/routes.ts';
import { createMetadataRoutes } from '../auth/protected-resource-metadata.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { type CorsPolicy, createCorsPolicy } from '../steps/cors-policy.ts';
import { createBatchRoutes } from './batch/route.ts';

/** What an API answers itself below its listen path, before its chain and whatever version is asked for. */
export type BuiltInRoute = (call: Exchange, inside: DispatchRequest) => MaybePromise<GatewayResponse>;

/** Takes a call that was made here through the gateway, as if it had come from outside. */
export type DispatchRequest = RequestHandler['handle'];

export interface BuiltInRouteContext {
  readonly model: Model;
  readonly services: StepServices;
}

/** Most APIs have none: they share the empty list. */
export const noBuiltInRoutes: ReadonlyMap<string, BuiltInRoute> = new Map();

/** By the path below the listen path. */
export function createBuiltInRoutes(context: BuiltInRouteContext): ReadonlyMap<string, BuiltInRoute> {
  const cors = createCorsPolicy(context);
  const routes = [...createOauthRoutes(context), ...createBatchRoutes(context), ...createMetadataRoutes(context)];
  if (routes.length === 0) return noBuiltInRoutes;
  return new Map(cors ? routes.map(([path, route]) => [path, withCors(cors, route)]) : routes);
}

/** Pages of other origins come here too. */
const withCors =
  (cors: CorsPolicy, route: BuiltInRoute): BuiltInRoute =>
  (call, dispatch) => {
    cors.addHeaders(call);
    return call.method === 'OPTIONS' ? cors.respondToOptions(call) : route(call, dispatch);
  };
