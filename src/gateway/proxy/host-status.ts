import type { Model } from '#definition/model.ts';
import type { LocalCounters } from '#storage/shared/threads.ts';
import type { ProxyServices } from './services.ts';

/** Upper bound of a test. */
export const maxTestMs = 30_000;

/** Tests found by service discovery have their own switch. */
export const hasUptimeTests = ({ uptimeTests, uptimeDiscovery }: Model): boolean =>
  uptimeTests.enabled || uptimeDiscovery.enabled;

/** Hosts of one API that its uptime tests found down, shared by all threads of the process. */
export interface HostStatus {
  isDown(host: string): boolean;
  /** Expires when no test renews it. */
  markDown(host: string): void;
  markUp(host: string): void;
}

/** `host:port`, also for the default port. */
export function toHostAndPort(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname.toLowerCase()}:${port || (/^(?:https|wss|tls):$/.test(protocol) ? '443' : '80')}`;
}

export function createHostStatus(
  {
    processCounters,
    clock,
    settings,
  }: Pick<ProxyServices, 'clock' | 'settings'> & { readonly processCounters: LocalCounters },
  apiId: string,
): HostStatus {
  const nameOf = (host: string) => `down ${apiId} ${host}`;
  const periodMs = settings['uptime.interval_ms'] * (settings['uptime.failures'] + 1) + maxTestMs;
  const window = { limit: Number.POSITIVE_INFINITY, periodMs, opens: 'every' } as const;
  return {
    isDown: host => processCounters.peek(nameOf(host), window, clock.now()).used > 0,
    markDown: host => void processCounters.take(nameOf(host), window, clock.now()),
    markUp: host => processCounters.reset(nameOf(host)),
  };
}
