import type { Clock } from '#base/clock.ts';
import { toHealthReport } from '#base/health.ts';
import { plainTextHeaders } from '#base/page-guard.ts';
import { createJsonResponse, createResponse, type GatewayResponse } from '../http/response.ts';
import { writeUnroutedResponse } from '../pipeline/respond.ts';
import type { RequestHandler } from '../pipeline/response-writer.ts';

export interface HealthEndpointsOptions {
  readonly version: string;
  /** Configurable path names. */
  readonly names: { readonly health: string; readonly ready: string };
  readonly clock: Clock;
  readonly isReady: () => boolean;
  /** Dependencies by name: empty when healthy, else a message safe for outsiders. */
  readonly checks: () => Readonly<Record<string, string>>;
}

/** Health endpoints of the gateway, which take precedence over every API. */
export function createHealthEndpoints({ version, names, clock, isReady, checks }: HealthEndpointsOptions) {
  const buildReport = () => toHealthReport(checks(), version, 'Gatewright gateway', clock.now());
  const endpoints = new Map<string, () => [status: number, body: unknown]>([
    ['/live', () => [200, { message: 'Success' }]],
    [`/${names.health}`, () => [200, buildReport()]],
    [`/${names.ready}`, () => (isReady() ? [200, { message: 'Success' }] : [503, { message: 'Not ready' }])],
  ]);

  const maxPathLength = Math.max(...[...endpoints.keys()].map(path => path.length));

  return (method: string, path: string): GatewayResponse | undefined => {
    const found = path.length > maxPathLength ? undefined : endpoints.get(path);
    if (!found) return undefined;
    if (method !== 'GET' && method !== 'HEAD')
      return createResponse(405, { ...plainTextHeaders, Allow: 'GET, HEAD' }, 'Method Not Allowed');
    return createJsonResponse(...found());
  };
}

/** Answers health endpoints; passes every other request to `next`. */
export function withHealthEndpoints(
  respond: ReturnType<typeof createHealthEndpoints>,
  next: RequestHandler,
): RequestHandler {
  return {
    handle(call, writer) {
      const response = respond(call.method, call.path);
      if (!response) return next.handle(call, writer);
      const { bytes } = response.body;
      response.headers.set('Content-Length', String(bytes?.length ?? 0));
      const body = call.method === 'HEAD' ? undefined : bytes;
      writeUnroutedResponse(writer, response.status, response.headers.flat, body);
    },
  };
}
