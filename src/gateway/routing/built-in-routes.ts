import type { Model } from '#definition/model.ts';
import { createOauthRoutes } from '../auth/oauth/routes.ts';
import { createMetadataRoutes } from '../auth/protected-resource-metadata.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import type { MaybePromise } from '../pipeline/step.ts';
import type { StepServices } from '../pipeline/step-services.ts';
import { type CorsPolicy, createCorsPolicy } from '../steps/cors-policy.ts';
import { batchRoutes } from './batch/route.ts';

/** What an API answers itself below its listen path, before its chain and whatever version is asked for. */
export type Route = (call: Exchange, inside: Inside) => MaybePromise<GatewayResponse>;

/** Takes a call that was made here through the gateway, as if it had come from outside. */
export type Inside = RequestHandler['handle'];

export interface RouteContext {
  readonly model: Model;
  readonly services: StepServices;
}

/** Most APIs have none: they share the empty list. */
export const noRoutes: ReadonlyMap<string, Route> = new Map();

/** By the path below the listen path. */
export function routesOf(context: RouteContext): ReadonlyMap<string, Route> {
  const cors = createCorsPolicy(context);
  const routes = [...createOauthRoutes(context), ...batchRoutes(context), ...createMetadataRoutes(context)];
  if (routes.length === 0) return noRoutes;
  return new Map(cors ? routes.map(([path, route]) => [path, forPages(cors, route)]) : routes);
}

/** Pages of other origins come here too. */
const forPages =
  (cors: CorsPolicy, route: Route): Route =>
  (call, inside) => {
    cors.addHeaders(call);
    return call.method === 'OPTIONS' ? cors.respondToOptions(call) : route(call, inside);
  };
