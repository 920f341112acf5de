import { BoundedMap } from '#base/bounded-map.ts';
import type { Log } from '#base/log.ts';
import type { Settings } from '#base/settings.ts';
import type { EventHandler } from '#definition/facets/event-handlers.ts';
import type { HandlerOwner } from '#events/dispatch.ts';
import { type GatewayEvent, toTemplateData } from '#events/payload.ts';
import { createGrpcPlugins } from './create-grpc-plugins.ts';
import { encodeFrame } from './encode-object.ts';
import { GrpcError } from './grpc-error.ts';

const dispatchEventPath = '/coprocess.Dispatcher/DispatchEvent';
const payloadField = 1;
/** Calls of one organisation in progress; further events are skipped. */
const maxCallsPerOwner = 100;
const maxOwners = 10_000;

interface GrpcEventServices {
  readonly settings: Settings;
  readonly log: Log;
  defaultOrgId(): Promise<string>;
}

/** Event handlers of the type `cp_dynamic_handler`: `DispatchEvent` of the gRPC server. Nothing waits for them. */
export function createGrpcEvents({ settings, log, defaultOrgId }: GrpcEventServices) {
  const client = createGrpcPlugins(settings, log);
  const granted = settings['plugins.grpc.organisations'];
  const inProgress = new BoundedMap<string, number>(maxOwners);

  async function send(event: GatewayEvent, { name }: EventHandler, owner: HandlerOwner): Promise<void> {
    const operatorId = await defaultOrgId();
    const ownerId = owner === 'operator' ? operatorId : event.orgId;
    if (ownerId !== operatorId && !granted.includes(ownerId) && !granted.includes('*'))
      throw new GrpcError('unavailable', 'plugins.grpc.organisations does not list the organisation');
    if (!client) throw new GrpcError('unavailable', 'plugins.grpc.address is not set');
    const running = inProgress.get(ownerId) ?? 0;
    if (running >= maxCallsPerOwner)
      throw new GrpcError('overload', `more than ${maxCallsPerOwner} events are in progress`);
    inProgress.set(ownerId, running + 1);
    const message = { ...toTemplateData(event), APIID: event.apiId, OrgID: event.orgId };
    const payload = JSON.stringify({ message, handler_name: name });
    try {
      await client.call(
        dispatchEventPath,
        encodeFrame(writer => writer.writeString(payloadField, payload)),
      );
    } finally {
      const left = (inProgress.get(ownerId) ?? 1) - 1;
      if (left > 0) inProgress.set(ownerId, left);
      else inProgress.delete(ownerId);
    }
  }

  return {
    async run(event: GatewayEvent, handler: EventHandler, owner: HandlerOwner): Promise<void> {
      try {
        await send(event, handler, owner);
      } catch (error) {
        const { message: reason } = error as Error;
        const type = error instanceof GrpcError ? error.reason : 'unavailable';
        log.warn({ event: event.event, api: event.apiId, plugin: handler.name, type, reason }, 'event plugin failed');
      }
    },
    close: () => client?.close(),
  };
}
