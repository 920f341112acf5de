import { isAuthority } from '../http/request-head.ts';
import { endpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Step, StepContext } from '../pipeline/step.ts';
import { applyChange, type HeaderChange, type HeaderWish, headerChange } from './header-changes.ts';

/** Headers changed on the way to the upstream: for every call of the version, then for those of an endpoint. */
export const requestHeaders: Step = {
  name: 'request-headers',
  build(context) {
    const { version, services } = context;
    const everywhere = version.requestHeaders.enabled ? requestChange(version.requestHeaders, services) : undefined;
    const entries = version.endpoints.transformRequestHeaders.flatMap(entry => {
      const change = requestChange(entry, services);
      return change ? [{ path: entry.path, method: entry.method, change }] : [];
    });
    const endpoints = endpointMatcher(entries, { ...context, settings: services.settings });
    if (!everywhere && !endpoints) return undefined;
    return {
      request(call) {
        if (everywhere) apply(everywhere, call);
        const here = endpoints?.find(call);
        if (here) apply(here.change, call);
        return undefined;
      },
    };
  },
};

/** A change of headers, some of which the gateway writes itself when the call leaves it. */
interface RequestChange extends HeaderChange {
  /** What it then leaves as this step left it. */
  readonly withheld: ReadonlySet<string> | undefined;
  readonly host: ((call: Exchange) => string) | undefined;
}

/** Told to upstreams unless a definition takes them away. */
const told = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

function requestChange(wish: HeaderWish, services: StepContext['services']): RequestChange | undefined {
  const change = headerChange(wish, services);
  if (!change) return undefined;
  const removed = new Set(wish.remove.map(name => name.toLowerCase()));
  const names = new Set(change.set.map(({ name }) => name.toLowerCase()));
  const withheld = told.filter(name => removed.has(name) || (name === 'x-real-ip' && names.has(name)));
  return {
    ...change,
    set: change.set.filter(({ name }) => name.toLowerCase() !== 'host'),
    // A call without its own host is no call: it can be given another one, and none cannot be taken away.
    removed: new Set([...change.removed].filter(name => name !== 'host')),
    withheld: withheld.length > 0 ? new Set(withheld) : undefined,
    host: change.set.find(({ name }) => name.toLowerCase() === 'host')?.value,
  };
}

function apply(change: RequestChange, call: Exchange): void {
  applyChange(change, call, call.headers);
  if (change.withheld) call.suppressedHeaders = call.suppressedHeaders?.union(change.withheld) ?? change.withheld;
  const host = change.host?.(call);
  if (host !== undefined && isAuthority(host)) call.upstreamHost = host;
}
