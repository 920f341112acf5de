import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { Api } from '../routing/api.ts';
import type { HostCheck, UptimeCheckResult } from './http-check.ts';

/** Bound of host, URL and failure texts. */
const maxTextCharacters = 300;

interface HostSummary {
  readonly host: string;
  tests: number;
  passed: number;
  passedMs: number;
  /** Severity of the worst result, which represents the host. */
  severity: number;
  url: string;
  result: UptimeCheckResult;
}

/** Aggregates the check results of one round by host. */
export function createUptimeResults(api: Pick<Api, 'id' | 'orgId' | 'model'>, atMs: number) {
  const summaries = new Map<string, HostSummary>();
  const { gatewayTags } = api.model;
  const down = 2;

  return {
    add(
      host: string,
      { displayUrl: url }: Pick<HostCheck, 'displayUrl'>,
      result: UptimeCheckResult,
      isDown: boolean,
    ): void {
      const badness = isDown ? down : result.passed ? 0 : 1;
      const summary = summaries.get(host) ?? { host, tests: 0, passed: 0, passedMs: 0, severity: badness, url, result };
      summaries.set(host, summary);
      summary.tests++;
      if (result.passed) {
        summary.passed++;
        summary.passedMs += result.latencyMs;
      }
      if (badness > summary.severity) Object.assign(summary, { severity: badness, url, result });
    },
    /** A host is down when one of its checks is. */
    hosts: (): UptimeResult[] =>
      [...summaries.values()].map(({ host, tests, passed, passedMs, severity: badness, url, result }) => ({
        apiId: api.id,
        orgId: api.orgId,
        apiName: api.model.identity.name,
        tags: gatewayTags.enabled ? gatewayTags.tags : [],
        host: host.slice(0, maxTextCharacters),
        atMs,
        up: badness < down,
        url: url.slice(0, maxTextCharacters),
        status: result.status,
        latencyMs: result.latencyMs,
        failure: result.failure.slice(0, maxTextCharacters),
        tests,
        passed,
        passedMs,
        retentionSeconds: api.model.uptimeTests.logRetentionSeconds,
      })),
  };
}
