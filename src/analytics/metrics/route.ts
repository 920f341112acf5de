import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { Actor, Authenticate } from '#operations/actor.ts';
import type { AuthFailureLimit } from '#operations/auth-failure-limit.ts';
import { renderProblem } from '#operations/render.ts';
import { surfaces } from '#operations/surfaces.ts';
import { expositionContentType, formatExposition, gauge, type MetricFamily } from './exposition.ts';

export interface MetricsOptions {
  readonly settings: Settings;
  readonly failures: AuthFailureLimit;
  readonly log: Log;
  readonly version: string;
  readonly authenticate: Readonly<Record<'admin' | 'gateway', Authenticate>>;
  /** Health checks by name; empty text means healthy. */
  parts(): Promise<Readonly<Record<string, string>>>;
  /** Metrics of the data plane; empty without one. */
  traffic(): readonly MetricFamily[];
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
      const families = [
        ...processFamilies(options.version),
        ...partFamilies(await options.parts()),
        ...options.traffic(),
      ];
      return reply.type(expositionContentType).send(formatExposition(families));
    } catch (error) {
      const { status, body, headers } = renderProblem(error, surfaces.admin, log);
      return reply.code(status).headers(headers).type(surfaces.admin.contentType).send(JSON.stringify(body));
    }
  });
}

const partFamilies = (parts: Readonly<Record<string, string>>): MetricFamily[] => [
  gauge(
    'gw_component_up',
    'Health of a dependency of the process: 1 if it works, 0 if not.',
    Object.entries(parts).map(([part, fault]) => ({ labels: { part }, value: fault === '' ? 1 : 0 })),
  ),
];

function processFamilies(version: string): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge('gw_build_info', 'Release of the process.', [{ labels: { version }, value: 1 }]),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', [{ value: process.memoryUsage.rss() }]),
    gauge('process_start_time_seconds', 'Start time of the process.', [{ value: performance.timeOrigin / 1000 }]),
    {
      name: 'process_cpu_seconds_total',
      about: 'CPU time of the process.',
      type: 'counter',
      samples: [{ value: (user + system) / 1_000_000 }],
    },
  ];
}
