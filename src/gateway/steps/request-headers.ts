import { isAuthority } from '../http/request-head.ts';
import { createEndpointMatcher } from '../pipeline/endpoint-match.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { PipelineServices } from '../pipeline/services.ts';
import type { Step, StepReads } from '../pipeline/step.ts';
import {
  applyHeaderChange,
  type CompiledHeaderChange,
  compileHeaderChange,
  type HeaderChangeConfig,
} from './header-changes.ts';

type Services = Pick<PipelineServices, 'isContextName' | 'secrets' | 'settings'>;

const reads = { version: ['requestHeaders'], endpoints: ['transformRequestHeaders'] } as const satisfies StepReads;

/** Request header transforms: of the version, then of the endpoint. */
export const requestHeadersStep: Step<Services, typeof reads> = {
  name: 'request-headers',
  reads,
  build(context) {
    const { version, services } = context;
    const versionChange = version.requestHeaders.enabled
      ? compileRequestChange(version.requestHeaders, services)
      : undefined;
    const entries = version.endpoints.transformRequestHeaders.flatMap(entry => {
      const change = compileRequestChange(entry, services);
      return change ? [{ path: entry.path, method: entry.method, change }] : [];
    });
    const endpoints = createEndpointMatcher(entries, { ...context, settings: services.settings });
    if (!versionChange && !endpoints) return undefined;
    return {
      request(call) {
        if (versionChange) applyRequestChange(versionChange, call);
        const endpoint = endpoints?.find(call);
        if (endpoint) applyRequestChange(endpoint.change, call);
        return undefined;
      },
    };
  },
};

/** Header change with headers the gateway adds itself when it forwards. */
interface RequestHeaderChange extends CompiledHeaderChange {
  /** Headers the gateway then does not add. */
  readonly suppressed: ReadonlySet<string> | undefined;
  readonly host: ((call: Exchange) => string) | undefined;
}

/** Forwarding headers, sent to upstreams unless a definition removes them. */
const forwardingHeaders = ['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'];

function compileRequestChange(config: HeaderChangeConfig, services: Services): RequestHeaderChange | undefined {
  const change = compileHeaderChange(config, services);
  if (!change) return undefined;
  const removed = new Set(config.remove.map(name => name.toLowerCase()));
  const names = new Set(change.set.map(({ name }) => name.toLowerCase()));
  const suppressed = forwardingHeaders.filter(name => removed.has(name) || (name === 'x-real-ip' && names.has(name)));
  return {
    ...change,
    set: change.set.filter(({ name }) => name.toLowerCase() !== 'host'),
    // A request needs a Host: it can be replaced, not removed.
    removed: new Set([...change.removed].filter(name => name !== 'host')),
    suppressed: suppressed.length > 0 ? new Set(suppressed) : undefined,
    host: change.set.find(({ name }) => name.toLowerCase() === 'host')?.value,
  };
}

function applyRequestChange(change: RequestHeaderChange, call: Exchange): void {
  applyHeaderChange(change, call, call.headers);
  if (change.suppressed) call.suppressedHeaders = call.suppressedHeaders?.union(change.suppressed) ?? change.suppressed;
  const host = change.host?.(call);
  if (host !== undefined && isAuthority(host)) call.upstreamHost = host;
}
