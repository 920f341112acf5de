import type { EventHandler } from '#definition/facets/event-handlers.ts';
import { eventNames } from '#events/payload.ts';
import type { Snapshot } from './snapshot.ts';

/** Whether calls of an API are answered, and if not, why. */
export interface ServedStatus {
  readonly served: boolean;
  readonly reason: string;
  /** What its definition asks for, does not do, and is not needed to answer calls. */
  readonly warnings?: readonly string[];
}

export function servedStatus({ apis }: Pick<Snapshot, 'apis'>, apiId: string): ServedStatus {
  const api = apis.get(apiId);
  const reason = unservedReason(api);
  const warnings = api?.model.events.handlers.flatMap(handlerWarning) ?? [];
  return { served: reason === '', reason, ...(warnings.length > 0 && { warnings }) };
}

function handlerWarning({ enabled, trigger, type, functionName, name }: EventHandler): string[] {
  if (!enabled) return [];
  if (!(eventNames as readonly string[]).includes(trigger)) return [`no event is called ${trigger}`];
  if (type === 'webhook' || type === 'log') return [];
  return [`the event handler ${functionName || name} of ${trigger} does not run: handlers of type ${type} cannot yet`];
}

function unservedReason(api: ReturnType<Snapshot['apis']['get']>): string {
  if (!api) return 'the gateway could not load it; its log says why';
  const { active, internal } = api.model.identity;
  if (!active) return 'it is not active';
  if (api.unserved) return api.unserved;
  if (internal || api.routed || api.passage) return '';
  return api.model.listen.path.trim() === '' ? 'it has no listen path' : 'it is not reachable on this gateway';
}
