import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { toHealthReport } from '#base/health.ts';
import type { Settings } from '#base/settings.ts';
import { createDatabaseHealthCheck } from '#storage/database-health.ts';
import type { Records } from '#storage/records.ts';
import type { SharedEngine } from '#storage/shared/engine.ts';

/** Health of this process and its dependencies. */
export interface Health {
  readonly version: string;
  readonly clock: Clock;
  /** Check results by name; empty text means pass. */
  checks(): Promise<Readonly<Record<string, string>>>;
  /** Checks that are reported but do not affect readiness. */
  readonly optionalChecks?: readonly string[];
  isReady(): boolean;
}

interface HealthServices extends Pick<SharedEngine, 'shared'> {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly records: Records;
  readonly version: string;
}

/** Checks the database, and Redis where it is configured. */
export function createHealth(
  { settings, clock, records, shared, version }: HealthServices,
  isReady: () => boolean,
): Health {
  const database = createDatabaseHealthCheck(records, clock);
  const redis = () => (shared.state() === 'ok' ? '' : 'Redis unavailable: limits are counted in this process only');
  return {
    version,
    clock,
    isReady,
    optionalChecks: ['redis'],
    checks: async () => ({ database: await database(), ...(settings['redis.url'] ? { redis: redis() } : {}) }),
  };
}

/** `/hello` for people, `/live` and `/ready` for orchestrators: the only paths that need no credential. */
export function addHealthRoutes(app: FastifyInstance, health: Health): void {
  app.get('/hello', async () => buildHealthReport(health));
  app.get('/live', async () => ({ message: 'Success' }));
  app.get('/ready', async (_request, reply) => {
    const { details } = await buildHealthReport(health);
    const failed = Object.keys(details).filter(
      name => details[name]?.status === 'fail' && !health.optionalChecks?.includes(name),
    );
    if (health.isReady() && failed.length === 0) return { message: 'Success' };
    return reply.code(503).send({ message: 'Not ready', details });
  });
}

export const buildHealthReport = async ({ version, checks, clock }: Health) =>
  toHealthReport(await checks(), version, 'Gatewright', clock.now());
