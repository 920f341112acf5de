import type { Model } from '#definition/model.ts';
import type { Answer } from './answer.ts';
import { oauthRoutes } from './auth/oauth/routes.ts';
import { type Cors, corsOf } from './cors.ts';
import type { Exchange } from './exchange.ts';
import type { Doing } from './step.ts';
import type { GatewayTools } from './tools.ts';

/** What an API answers itself below its listen path, before its chain and whatever version is asked for. */
export type Route = (call: Exchange) => Doing<Answer>;

export interface RouteContext {
  readonly model: Model;
  readonly tools: GatewayTools;
}

/** By the path below the listen path. */
export function routesOf(context: RouteContext): ReadonlyMap<string, Route> {
  const cors = corsOf(context);
  const routes = oauthRoutes(context);
  return new Map(cors ? routes.map(([path, route]) => [path, forPages(cors, route)]) : routes);
}

/** Pages of other origins come here too. */
const forPages =
  (cors: Cors, route: Route): Route =>
  call => {
    cors.mark(call);
    return call.method === 'OPTIONS' ? cors.options(call) : route(call);
  };
