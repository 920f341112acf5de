import { listReferencedCertificates } from '../auth/certificate-cache.ts';
import { hasUptimeTests } from '../proxy/host-status.ts';
import type { Api } from './api.ts';
import { compareAge } from './route-index.ts';
import { requestsClientCertificate } from './sni-identity.ts';

/**
 * Subsets of the APIs of a snapshot, oldest first. Each is the same list until one of its members changes: work that
 * concerns a few APIs does not look at all of them after every change.
 */
export interface ApiSubsets {
  readonly tcpServices: readonly Api[];
  /** With uptime tests that run. */
  readonly uptimeTested: readonly Api[];
  /** Active, with a custom domain or client certificates: TLS handshakes depend on them. */
  readonly tlsConfigured: readonly Api[];
  /** APIs that limit the lifetime of keys. */
  readonly lifetimeLimited: readonly Api[];
  /** Active, with certificates of the store. */
  readonly certified: readonly Api[];
}

export const noSubsets: ApiSubsets = {
  tcpServices: [],
  uptimeTested: [],
  tlsConfigured: [],
  lifetimeLimited: [],
  certified: [],
};

const membership: { readonly [Name in keyof ApiSubsets]: (api: Api) => boolean } = {
  tcpServices: ({ tcpService }) => tcpService !== undefined,
  uptimeTested: ({ model, unavailableReason }) =>
    model.identity.active && unavailableReason === '' && hasUptimeTests(model),
  tlsConfigured: ({ model, host }) => model.identity.active && (host !== '' || requestsClientCertificate(model)),
  lifetimeLimited: ({ model }) => model.authentication.sessionLifetimeSeconds > 0,
  certified: ({ model }) => model.identity.active && listReferencedCertificates(model).length > 0,
};

export function updateSubsets(previous: ApiSubsets, replaced: readonly Api[], changed: readonly Api[]): ApiSubsets {
  const update = (name: keyof ApiSubsets): readonly Api[] => {
    const isMember = membership[name];
    const added = changed.filter(isMember);
    if (added.length === 0 && !replaced.some(isMember)) return previous[name];
    const removed = new Set(replaced);
    return [...previous[name].filter(api => !removed.has(api)), ...added].sort(compareAge);
  };
  return {
    tcpServices: update('tcpServices'),
    uptimeTested: update('uptimeTested'),
    tlsConfigured: update('tlsConfigured'),
    lifetimeLimited: update('lifetimeLimited'),
    certified: update('certified'),
  };
}
