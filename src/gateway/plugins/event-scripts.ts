import { BoundedMap } from '#base/bounded-map.ts';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { HandlerOwner } from '#events/dispatch.ts';
import { type GatewayEvent, toTemplateData } from '#events/payload.ts';
import { createHostCall } from './host-functions.ts';
import { findPluginDirectory, type PluginScript, readPluginFile } from './plugin-files.ts';
import { PluginError, type PluginRunner, type PluginSet } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

export interface EventScriptServices extends Pick<PluginServices, 'outbound' | 'rpc'> {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly runner: PluginRunner;
  /** Organisation of the operator, which has the whole plugin directory. */
  defaultOrgId(): Promise<string>;
}

interface LoadedScript {
  readonly source: string;
  readonly set: PluginSet;
  readonly readAtMs: number;
}

const maxLoadedScripts = 100;
/** A changed file is loaded after this time at the latest. */
const rereadIntervalMs = 2000;
const identifier = /^[A-Za-z_$][\w$]*$/;

/** Scripts of event handlers, on the workers of the main thread. Failures are logged; nothing waits for them. */
export function createEventScripts(services: EventScriptServices) {
  const { settings, clock, log, runner } = services;
  const loaded = new BoundedMap<string, LoadedScript>(maxLoadedScripts);

  function read(ownerId: string, isOperator: boolean, path: string): PluginScript {
    return readPluginFile(findPluginDirectory(settings['plugins.directory'], ownerId, isOperator), path);
  }

  function findScript(ownerId: string, isOperator: boolean, { functionName, path }: EventHandler): PluginSet {
    if (!identifier.test(functionName))
      throw new PluginError('load', `${JSON.stringify(functionName)} is not the name of an event handler`);
    const name = `${ownerId}\n${functionName}\n${path}`;
    const known = loaded.touch(name);
    const readAtMs = clock.now();
    if (known && readAtMs - known.readAtMs < rereadIntervalMs) return known.set;
    const { source, name: file } = read(ownerId, isOperator, path);
    const set =
      known?.source === source
        ? known.set
        : runner.load({
            owner: ownerId,
            files: [{ name: file, source, exports: functionName }],
            hooks: [functionName],
            data: {},
          });
    loaded.set(name, { source, set, readAtMs });
    return set;
  }

  async function attempt(event: GatewayEvent, handler: EventHandler, owner: HandlerOwner): Promise<void> {
    const operatorId = await services.defaultOrgId();
    const ownerId = owner === 'operator' ? operatorId : event.orgId;
    const set = findScript(ownerId, ownerId === operatorId && operatorId !== '', handler);
    const body = JSON.stringify({
      event: toTemplateData(event),
      context: { APIID: event.apiId, OrgID: event.orgId },
    });
    const host = createHostCall(services, { id: event.apiId, orgId: ownerId });
    const { logs } = await set.run({ head: `event\n${handler.functionName}`, body }, host);
    for (const text of logs) log.info({ api: event.apiId, text }, 'plugin message');
  }

  return async (gatewayEvent: GatewayEvent, handler: EventHandler, owner: HandlerOwner): Promise<void> => {
    const { event, apiId } = gatewayEvent;
    try {
      await attempt(gatewayEvent, handler, owner);
    } catch (error) {
      const { message: reason } = error as Error;
      const type = error instanceof PluginError ? error.type : 'load';
      if (error instanceof PluginError) for (const text of error.logs) log.info({ api: apiId, text }, 'plugin message');
      log.warn({ event, api: apiId, script: handler.functionName, type, reason }, 'event script failed');
    }
  };
}
