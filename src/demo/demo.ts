import type { AddressPolicies } from '#base/address-policies.ts';
import { createSeed } from '#base/ids.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { DataDirectory } from '#storage/data-directory.ts';
import { createDemo, type DemoServices } from './create.ts';
import { problem } from './problems.ts';
import { createRandom } from './random.ts';
import { relocateUpstream } from './relocate.ts';
import { createDemoStates, type DemoState, demoFile } from './state.ts';
import { startTraffic } from './traffic.ts';
import { type DemoUpstream, startDemoUpstream, upstreamHost } from './upstream.ts';

/** The part of the installation that the demo uses. */
export interface DemoInstallation {
  readonly directory: Pick<DataDirectory, 'write'>;
  readonly services: DemoServices & { readonly addressPolicies: AddressPolicies };
  readonly pendingDatabase: unknown;
}

/** Refuses settings with which the demo cannot work. */
function validateDemoSettings(settings: Settings): void {
  if (settings.role !== 'all') throw problem.role({ detail: { role: settings.role } });
  if (settings['gateway.tls.enabled']) throw problem.tls();
}

/** The demo of one process: its upstream and its sample calls. */
export function createDemoRun(settings: Settings, { log }: { readonly log: Log }) {
  validateDemoSettings(settings);
  const random = createRandom(createSeed());
  let upstream: DemoUpstream | undefined;
  let traffic: ReturnType<typeof startTraffic> | undefined;
  let running: { readonly state: DemoState; readonly services: DemoServices } | undefined;

  /** Starts the upstream, and creates the objects where they do not exist; before the listeners open. */
  async function prepare({ directory, services, pendingDatabase }: DemoInstallation): Promise<void> {
    if (pendingDatabase) throw problem.database_unavailable();
    const stored = await createDemoStates(services).read();
    if (stored?.phase === 'removing') throw problem.removal_unfinished();
    upstream = await startDemoUpstream(stored?.port ?? 0, { random, log });
    if (services.addressPolicies.operator.refuse(upstreamHost, upstream.port))
      throw problem.address_refused({ detail: { host: upstreamHost } });
    const found = stored ?? (await createDemo(services, upstream.port, random));
    const state = await relocateUpstream(services, found, upstream.port);
    directory.write(demoFile, `${JSON.stringify(state, null, 2)}\n`);
    running = { state, services };
  }

  return {
    async prepare(installation: DemoInstallation): Promise<void> {
      try {
        await prepare(installation);
      } catch (error) {
        await upstream?.close();
        throw error;
      }
    },
    /** Starts the sample calls. */
    start(gatewayUrl: string): void {
      const { state, services } = running!;
      const isStillThere = async () => (await createDemoStates(services).read())?.phase === 'ready';
      traffic = startTraffic({ gatewayUrl, state, random, log, isStillThere });
    },
    async close(): Promise<void> {
      await traffic?.close();
      await upstream?.close();
    },
  };
}
