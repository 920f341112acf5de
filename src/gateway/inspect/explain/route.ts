import type { Exchange } from '../../pipeline/exchange.ts';
import type { Api } from '../../routing/api.ts';
import { findApiById, type Snapshot } from '../../routing/snapshot.ts';
import type { Trace } from '../debug/trace.ts';
import { nearMissMark } from './near-miss.ts';

/** Traces why no route matched, with a near miss. Only for holders of the gateway secret. */
export function noteRoute(call: Exchange, current: Snapshot, trace: Trace, idPaths: boolean): void {
  const router = call.peer.port ? current.ports.get(call.peer.port) : current.router;
  if (router?.find(call.host, call.path, current.guard) || (idPaths && findApiById(current, call))) return;
  const near = findNearMiss(call, current);
  const msg = `no API has a listen path for ${call.path}${near ? `${nearMissMark}${near.place}` : ''}`;
  const ofNear = near ? { near_api_id: near.api.id, near_org_id: near.api.orgId } : {};
  trace.note({ level: 'info', type: 'request', mw: 'route', msg, code: 404, refusal: 'route_unknown', ...ofNear });
}

interface NearMiss {
  readonly api: Api;
  readonly place: string;
}

/** Near miss: the path with or without a trailing slash, in another case, or on another host or port. */
function findNearMiss({ host, path, peer }: Exchange, current: Snapshot): NearMiss | undefined {
  const own = peer.port ? current.ports.get(peer.port) : current.router;
  const other = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  const found = own?.find(host, other, current.guard);
  if (found) return { api: found.value, place: found.value.listenPath };
  const requestedPath = `${path.toLowerCase()}/`;
  for (const api of current.apis.values()) {
    if (!api.isRouted) continue;
    const listens = api.listenPath.toLowerCase();
    if (!requestedPath.startsWith(listens.endsWith('/') ? listens : `${listens}/`) || listens === '/') continue;
    const onHost = api.host === '' || api.host === host ? '' : ` of the host ${api.host}`;
    const onPort =
      api.port === (peer.port ?? 0) ? '' : api.port === 0 ? ' of the gateway port' : ` of port ${api.port}`;
    return { api, place: `${api.listenPath}${onHost}${onPort}` };
  }
  return undefined;
}
