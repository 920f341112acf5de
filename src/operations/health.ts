import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { toHealthReport } from '#base/health.ts';

/** Whether a part works: `pass`, or why not. */
export interface Health {
  readonly version: string;
  readonly clock: Clock;
  /** Each part by name. Empty text means it works. */
  checks(): Promise<Readonly<Record<string, string>>>;
  /** Parts whose loss is bridged: it is shown, but work goes on. */
  readonly optionalChecks?: readonly string[];
  isReady(): boolean;
}

/** `/hello` for people, `/live` and `/ready` for orchestrators: the only paths that need no credential. */
export function addHealthRoutes(app: FastifyInstance, health: Health): void {
  app.get('/hello', async () => buildReport(health));
  app.get('/live', async () => ({ message: 'Success' }));
  app.get('/ready', async (_request, reply) => {
    const { details } = await buildReport(health);
    const failed = Object.keys(details).filter(
      name => details[name]?.status === 'fail' && !health.optionalChecks?.includes(name),
    );
    if (health.isReady() && failed.length === 0) return { message: 'Success' };
    return reply.code(503).send({ message: 'Not ready', details });
  });
}

const buildReport = async ({ version, checks, clock }: Health) =>
  toHealthReport(await checks(), version, 'Gatewright', clock.now());
