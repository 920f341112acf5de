import { once } from 'node:events';
import { addFault, agent, faults, kinds, type SoakTargets, sent } from './soak-clients.ts';
import { type ApiCounts, createApiCounts, startSoakUpstream } from './soak-upstream.ts';

/** Requests that clients sent, and that the upstream received. */
export interface SoakCounts {
  readonly sent: ApiCounts;
  readonly received: ApiCounts;
  /** Responses that were not as expected, by text. */
  readonly faults: readonly string[];
}

/** Time for the requests in progress at the end of the load. */
const endTimeoutMs = 60_000;

/** Kinds of the requests in progress, by client. */
const inProgress = new Map<number, string>();

async function run(targets: SoakTargets, isRunning: () => boolean, client: number): Promise<void> {
  // Clients begin with different kinds, so that a short run has all of them.
  for (let i = Math.floor((client * kinds.length) / targets.clients); isRunning(); i++) {
    const [name, send] = kinds[i % kinds.length]!;
    inProgress.set(client, name);
    await send(targets).catch((error: Error) => addFault(`${name}: ${error.message}`));
  }
  inProgress.delete(client);
}

/**
 * Load of a soak: an upstream, and clients that send mixed requests through the gateway. A process of its own, so that
 * memory and file descriptors of the gateway are those of the gateway. The first message has the targets, the next one
 * ends the load, which reports.
 */
async function main(report: (message: object) => void): Promise<void> {
  // The gateway has ended.
  process.once('disconnect', () => process.exit());
  const received = createApiCounts();
  const upstream = await startSoakUpstream(received);
  report(upstream.ports);
  const [targets] = (await once(process, 'message')) as [SoakTargets];
  const stopped = once(process, 'message');
  let isRunning = true;
  const ended = Promise.all(Array.from({ length: targets.clients }, (_none, at) => run(targets, () => isRunning, at)));
  await stopped;
  isRunning = false;
  const timeout = Promise.withResolvers<void>();
  setTimeout(timeout.resolve, endTimeoutMs).unref();
  await Promise.race([ended, timeout.promise]);
  for (const name of inProgress.values()) addFault(`${name}: without an end`);
  agent.destroy();
  upstream.close();
  report({ sent, received, faults } satisfies SoakCounts);
}

if (process.send) await main(message => void process.send!(message));
