import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor, Authenticate } from '#operations/actor.ts';
import type { AuthFailureLimit } from '#operations/auth-failure-limit.ts';
import { renderProblem } from '#operations/render.ts';
import { surfaces } from '#operations/surfaces.ts';
import { expositionContentType, formatExposition, type MetricFamily } from './exposition.ts';

export interface MetricsOptions {
  readonly settings: Settings;
  readonly failures: AuthFailureLimit;
  readonly log: Log;
  readonly authenticate: Readonly<Record<'admin' | 'gateway', Authenticate>>;
  /** All families of the process. */
  listFamilies(): Promise<readonly MetricFamily[]>;
}

/** Prometheus endpoint. Authenticated by an installation secret in its header, or as bearer token for scrapers. */
export function addMetricsRoute(app: FastifyInstance, options: MetricsOptions): void {
  const { settings, log, authenticate, failures } = options;

  async function authenticateScraper(request: FastifyRequest): Promise<Actor | undefined> {
    const bearer = surfaces.dashboard.extractCredential(request.headers.authorization?.trim() ?? '');
    for (const surface of ['admin', 'gateway'] as const) {
      const header = request.headers[surfaces[surface].credentialHeader];
      const credential = typeof header === 'string' ? header.trim() : bearer;
      const actor = credential === '' ? undefined : await authenticate[surface](credential);
      if (actor) return actor;
    }
    return undefined;
  }

  app.get('/metrics', async (request, reply) => {
    try {
      if (!settings['metrics.public']) {
        const { ip: address, method } = request;
        if (!(await authenticateScraper(request)))
          throw failures.reject({ surface: 'admin', address, method, path: '/metrics' });
      }
      return reply.type(expositionContentType).send(formatExposition(await options.listFamilies()));
    } catch (error) {
      const { status, body, headers } = renderProblem(error, surfaces.admin, log);
      return reply.code(status).headers(headers).type(surfaces.admin.contentType).send(JSON.stringify(body));
    }
  });
}
