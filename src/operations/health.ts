import type { FastifyInstance } from 'fastify';
import type { Clock } from '#base/clock.ts';
import { toHealthReport } from '#base/health.ts';

/** Whether a part works: `pass`, or why not. */
export interface Health {
  readonly version: string;
  readonly clock: Clock;
  /** Each part by name. Empty text means it works. */
  parts(): Promise<Readonly<Record<string, string>>>;
  /** Parts whose loss is bridged: it is shown, but work goes on. */
  readonly spare?: readonly string[];
  ready(): boolean;
}

/** `/hello` for people, `/live` and `/ready` for orchestrators: the only paths that need no credential. */
export function addHealth(app: FastifyInstance, health: Health): void {
  app.get('/hello', async () => hello(health));
  app.get('/live', async () => ({ message: 'Success' }));
  app.get('/ready', async (_request, reply) => {
    const { details } = await hello(health);
    const lost = Object.keys(details).filter(name => details[name]?.status === 'fail' && !health.spare?.includes(name));
    if (health.ready() && lost.length === 0) return { message: 'Success' };
    return reply.code(503).send({ message: 'Not ready', details });
  });
}

const hello = async ({ version, parts, clock }: Health) =>
  toHealthReport(await parts(), version, 'Gatewright', clock.now());
