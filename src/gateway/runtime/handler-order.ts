import { withExplanations } from '../inspect/explain/explain.ts';
import type { ExplanationStore } from '../inspect/explain/explanation-store.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';
import { createDispatcher, type DispatcherOptions } from '../routing/dispatch.ts';
import { type RequestTracer, withTracing } from '../tracing/request-tracer.ts';
import { withControlApi } from './control-api-proxy.ts';
import { type createHealthEndpoints, withHealthEndpoints } from './health-endpoints.ts';

export interface HandlerContext extends DispatcherOptions {
  readonly healthEndpoints: ReturnType<typeof createHealthEndpoints>;
  readonly explanations: ExplanationStore;
  /** Undefined where traces are not exported. */
  readonly tracer: RequestTracer | undefined;
}

/** A handler before routing: answers a request itself or passes it to `next`. */
export interface HandlerPlacement {
  readonly name: string;
  wrap(context: HandlerContext, next: RequestHandler): RequestHandler;
  readonly why: string;
}

/**
 * Handlers before routing in execution order, each with the reason for its position. The dispatcher follows them, with
 * the steps of `steps/order.ts`.
 */
export const handlerOrder: readonly HandlerPlacement[] = [
  {
    name: 'health-endpoints',
    wrap: ({ healthEndpoints }, next) => withHealthEndpoints(healthEndpoints, next),
    why: 'First: they respond while nothing else works, on every port, and no API can take their paths.',
  },
  {
    name: 'control-api',
    wrap: ({ services }, next) => withControlApi(services, next),
    why: 'Before any API, which could otherwise receive the gateway secret; absent unless the setting enables it.',
  },
  {
    name: 'tracing',
    wrap: ({ tracer }, next) => withTracing(tracer, next),
    why: 'Before routing, since requests without a route have a trace too; absent unless traces are exported.',
  },
  {
    name: 'explanations',
    wrap: (context, next) => withExplanations(context, context.explanations, next),
    why: 'Only traffic of APIs is explained; before routing, since the trace contains the reason why no route matched.',
  },
];

/** Handler of every request of a thread. */
export const buildHandler = (context: HandlerContext): RequestHandler =>
  handlerOrder.reduceRight((next, { wrap }) => wrap(context, next), createDispatcher(context));
