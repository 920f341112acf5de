import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { Api } from '../routing/api.ts';
import type { HostTest, TestResult } from './http-check.ts';

/** Characters kept of a host and of what is told of a test. */
const textKept = 300;

interface Finding {
  readonly host: string;
  tests: number;
  passed: number;
  passedMs: number;
  /** How bad the result is that speaks for the host. */
  badness: number;
  url: string;
  result: TestResult;
}

/** What the tests of one round say about the hosts of an API. */
export function findings(api: Pick<Api, 'id' | 'orgId' | 'model'>, atMs: number) {
  const found = new Map<string, Finding>();
  const down = 2;

  return {
    add(host: string, { shownUrl: url }: Pick<HostTest, 'shownUrl'>, result: TestResult, isDown: boolean): void {
      const badness = isDown ? down : result.passed ? 0 : 1;
      const finding = found.get(host) ?? { host, tests: 0, passed: 0, passedMs: 0, badness, url, result };
      found.set(host, finding);
      finding.tests++;
      if (result.passed) {
        finding.passed++;
        finding.passedMs += result.latencyMs;
      }
      if (badness > finding.badness) Object.assign(finding, { badness, url, result });
    },
    /** A host is down when one of its tests found it so. */
    hosts: (): UptimeResult[] =>
      [...found.values()].map(({ host, tests, passed, passedMs, badness, url, result }) => ({
        apiId: api.id,
        orgId: api.orgId,
        apiName: api.model.identity.name,
        host: host.slice(0, textKept),
        atMs,
        up: badness < down,
        url: url.slice(0, textKept),
        status: result.status,
        latencyMs: result.latencyMs,
        failure: result.failure.slice(0, textKept),
        tests,
        passed,
        passedMs,
        retentionSeconds: api.model.uptimeTests.logRetentionSeconds,
      })),
  };
}
