import type { Snapshot } from './snapshot.ts';

/** Whether calls of an API are answered, and if not, why. */
export interface ServedStatus {
  readonly served: boolean;
  readonly reason: string;
}

export function servedStatus({ apis }: Pick<Snapshot, 'apis'>, apiId: string): ServedStatus {
  const reason = unservedReason(apis.get(apiId));
  return { served: reason === '', reason };
}

function unservedReason(api: ReturnType<Snapshot['apis']['get']>): string {
  if (!api) return 'the gateway could not load it; its log says why';
  const { active, internal } = api.model.identity;
  if (!active) return 'it is not active';
  if (api.unserved) return api.unserved;
  if (internal || api.routed || api.passage) return '';
  return api.model.listen.path.trim() === '' ? 'it has no listen path' : 'it is not reachable on this gateway';
}
