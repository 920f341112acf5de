import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from './exchange.ts';
import type { RequestHandler } from './response-writer.ts';
import type { PipelineServices } from './services.ts';

/** A path below the listen path that the API answers itself, before version selection and its chain. */
export type BuiltInRoute = (call: Exchange, dispatch: DispatchRequest) => MaybePromise<GatewayResponse>;

/** Dispatches a request that was built inside the gateway as if a client had sent it. */
export type DispatchRequest = RequestHandler['handle'];

export interface BuiltInRouteContext<Services = PipelineServices> {
  readonly model: Model;
  readonly services: Services;
}
