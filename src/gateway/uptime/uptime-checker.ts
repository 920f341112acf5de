import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import { every } from '#base/repeat.ts';
import { tryParseJson } from '#base/try-parse-json.ts';
import type { Model } from '#definition/model.ts';
import { type DiscoveryRules, InvalidDiscoveryResponse } from '../proxy/discovery-response.ts';
import { createHostStatus, toHostAndPort } from '../proxy/host-status.ts';
import type { ServiceDiscovery } from '../proxy/service-discovery.ts';
import type { Api } from '../routing/api.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { StepServices } from '../steps/step-services.ts';
import { createHostCheck, type HostCheck, type UptimeCheck, type UptimeCheckResult } from './http-check.ts';
import { createUptimeResults } from './uptime-results.ts';

export interface UptimeCheckerOptions {
  readonly services: Pick<
    StepServices,
    | 'settings'
    | 'clock'
    | 'log'
    | 'processCounters'
    | 'addressPolicies'
    | 'grants'
    | 'networkFor'
    | 'emitEvent'
    | 'secrets'
  >;
  /** A separate client, so that checks and traffic do not wait for each other's connections. */
  readonly outbound: OutboundClient;
  readonly snapshot: () => Snapshot;
  /** Receives the results of each round. */
  onResults(hosts: readonly UptimeResult[]): void;
}

/** Checks of one API; the rest of a longer list is ignored. */
const maxChecksPerApi = 100;
/** Concurrency of one thread: rounds, and checks of one round. */
const maxConcurrentRounds = 20;
const maxConcurrentChecks = 5;
/** TTL of failure counts; shorter than the persistence of counters over a restart. */
const maxResultTtlMs = 3_500_000;
const pollsPerInterval = 4;
/** Claim TTL: another thread takes over a round whose thread exited. */
const roundTimeoutMs = 60_000;

/**
 * Uptime checker: active health checks of upstream hosts. All threads poll for due rounds and claim them through
 * shared counters, so that each round runs once and survives the exit of a thread. Results are counted where all
 * threads read them. Checks stop with their API, since rounds are derived from the snapshot.
 */
export function startUptimeChecker({ services, outbound, snapshot, onResults }: UptimeCheckerOptions): {
  close(): Promise<void>;
} {
  const { settings, clock, processCounters, log } = services;
  const intervalMs = settings['uptime.interval_ms'];
  const roundWindow = { limit: 1, periodMs: intervalMs } as const;
  const claimWindow = { limit: 1, periodMs: roundTimeoutMs } as const;
  const recordRound = createRoundRecorder(services, onResults);
  const activeRounds = new Set<string>();

  function pollRounds(): void {
    for (const api of snapshot().subsets.uptimeTested) {
      if (activeRounds.size >= maxConcurrentRounds) return;
      if (!activeRounds.has(api.id) && claimRound(api)) {
        activeRounds.add(api.id);
        runRound(api)
          .catch(error => log.error({ err: error, api: api.id }, 'uptime round failed'))
          .finally(() => endRound(api));
      }
    }
  }

  /** Claims a due round; false when none is due or another thread has it. */
  function claimRound({ id }: Api): boolean {
    const now = clock.now();
    const [due, begun] = [`uptime round ${id}`, `uptime begun ${id}`];
    if (!processCounters.peek(due, roundWindow, now).allowed || !processCounters.take(begun, claimWindow, now).allowed)
      return false;
    // Another thread may have finished it between the two.
    if (processCounters.take(due, roundWindow, now).allowed) return true;
    processCounters.reset(begun);
    return false;
  }

  function endRound({ id }: Api): void {
    activeRounds.delete(id);
    processCounters.reset(`uptime begun ${id}`);
  }

  async function runRound(api: Api): Promise<void> {
    const policy = services.addressPolicies.withNetworks(services.grants.of(api.orgId).networks);
    const discovered = await discoverChecks(api.model, services.networkFor(policy).serviceDiscovery);
    const results = await runChecks(createHostChecks(api, discovered, outbound));
    // Discards results of a definition that changed meanwhile.
    if (!isClosed && snapshot().apis.get(api.id) === api) recordRound(api, results);
  }

  let isClosed = false;
  const onError = (error: Error) => log.error({ err: error }, 'uptime rounds not started');
  const polls = every(Math.min(intervalMs, 1000) / pollsPerInterval, pollRounds, { onError, unref: true });
  return {
    async close() {
      isClosed = true;
      polls.stop();
      await outbound.close();
    },
  };
}

function createHostChecks(api: Api, discovered: readonly UptimeCheck[], outbound: OutboundClient): HostCheck[] {
  const options = { outbound, connectionOptionsFor: api.connectionOptionsFor };
  const checks = [...api.model.uptimeTests.tests, ...discovered].slice(0, maxChecksPerApi);
  return checks.flatMap(check => createHostCheck(check, options) ?? []);
}

/** Runs the checks of a round, a few at a time. */
async function runChecks(checks: readonly HostCheck[]): Promise<Map<HostCheck, UptimeCheckResult>> {
  const results = new Map<HostCheck, UptimeCheckResult>();
  const queue = [...checks];
  const runQueue = async () => {
    for (let test = queue.shift(); test; test = queue.shift()) results.set(test, await test.run());
  };
  await Promise.all(Array.from({ length: maxConcurrentChecks }, runQueue));
  return results;
}

async function discoverChecks(model: Model, serviceDiscovery: ServiceDiscovery): Promise<readonly UptimeCheck[]> {
  const { uptimeDiscovery, uptimeTests } = model;
  if (!uptimeDiscovery.enabled) return [];
  const again = uptimeTests.hostDownRetestSeconds;
  // Checks are whole URLs: port and path suffixes of host discovery do not apply.
  const found: DiscoveryRules = { ...uptimeDiscovery, portDataPath: '', targetPath: '' };
  const rules = again > 0 ? { ...found, cacheEnabled: true, cacheSeconds: again } : found;
  return serviceDiscovery.of('tests', rules, parseChecks).list();
}

/** Parses the first text as a list of checks in the classic format. */
function parseChecks([text = '']: readonly string[]): UptimeCheck[] {
  const list = tryParseJson(text);
  if (list === undefined) throw new InvalidDiscoveryResponse('the list of tests is not JSON');
  if (!Array.isArray(list)) throw new InvalidDiscoveryResponse('the response has no list of tests');
  return list.slice(0, maxChecksPerApi).flatMap(parseCheck);
}

const stringOrEmpty = (value: unknown) => (typeof value === 'string' ? value : '');

function parseCheck(value: unknown): UptimeCheck[] {
  if (typeof value !== 'object' || value === null) return [];
  const { url, protocol, timeout, method, headers, body, enable_proxy_protocol, commands } = value as Record<
    string,
    unknown
  >;
  if (typeof url !== 'string') return [];
  const headerEntries = Object.entries(typeof headers === 'object' && headers !== null ? headers : {});
  return [
    {
      url,
      protocol: stringOrEmpty(protocol),
      timeoutMs: Number.isInteger(timeout) ? Math.max(0, Number(timeout)) : 0,
      method: stringOrEmpty(method),
      headers: Object.fromEntries(
        headerEntries.filter(([, value]) => typeof value === 'string'),
      ) as UptimeCheck['headers'],
      body: stringOrEmpty(body),
      enableProxyProtocol: enable_proxy_protocol === true,
      commands: (Array.isArray(commands) ? commands : []).flatMap(it =>
        typeof it === 'object' && it !== null
          ? [{ name: stringOrEmpty(it.name), message: stringOrEmpty(it.message) }]
          : [],
      ),
    },
  ];
}

/** Records a round: updates failure counts and host status, emits events, reports results. */
function createRoundRecorder(
  { processCounters, clock, settings, emitEvent, secrets }: UptimeCheckerOptions['services'],
  onResults: UptimeCheckerOptions['onResults'],
) {
  const failureThreshold = settings['uptime.failures'];
  const resultTtlMs = Math.min(settings['uptime.interval_ms'] * 100, maxResultTtlMs);
  const resultWindow = { limit: Number.POSITIVE_INFINITY, periodMs: resultTtlMs, opens: 'every' } as const;

  /** Hysteresis: failures count up to the threshold (down), successes back to zero (up). */
  function updateHostState(key: string, passed: boolean): { before: boolean; after: boolean } {
    const now = clock.now();
    const [fails, down] = [`uptime fails ${key}`, `uptime down ${key}`];
    const before = processCounters.peek(down, resultWindow, now).used > 0;
    const failures = processCounters.peek(fails, resultWindow, now).used;
    const next = passed ? Math.max(0, failures - 1) : Math.min(failureThreshold, failures + 1);
    processCounters.reset(fails);
    if (next > 0) processCounters.take(fails, resultWindow, now, next);
    const after = passed ? before && next > 0 : before || next >= failureThreshold;
    if (after) processCounters.take(down, resultWindow, now);
    else processCounters.reset(down);
    return { before, after };
  }

  return (api: Api, results: ReadonlyMap<HostCheck, UptimeCheckResult>): void => {
    const found = createUptimeResults(api, clock.now());
    for (const [test, result] of results) {
      const host = toHostAndPort(test.origin);
      const { before, after } = updateHostState(`${api.id} ${test.name}`, result.passed);
      found.add(host, test, result, after);
      const event = after && !result.passed ? 'HostDown' : before && !after ? 'HostUp' : undefined;
      if (event) emitHostEvent({ emitEvent, secrets }, event, api, host, test, result);
    }
    const marks = createHostStatus({ processCounters, clock, settings }, api.id);
    const hosts = found.hosts();
    for (const { host, up } of hosts) {
      if (up) marks.markUp(host);
      else marks.markDown(host);
    }
    onResults(redactHosts(hosts, secrets.redact));
  };
}

function emitHostEvent(
  { emitEvent, secrets }: Pick<UptimeCheckerOptions['services'], 'emitEvent' | 'secrets'>,
  event: 'HostDown' | 'HostUp',
  api: Api,
  host: string,
  test: HostCheck,
  result: UptimeCheckResult,
): void {
  const message = event === 'HostDown' ? 'Uptime test failed' : 'Uptime test succeeded';
  const displayUrl = secrets.redact(test.displayUrl);
  const host_info = {
    CheckURL: displayUrl,
    ResponseCode: result.status,
    Latency: result.latencyMs,
    IsTCPError: result.failure !== '',
    Method: test.method,
    // Header values may be credentials: handlers get the names only.
    Headers: Object.fromEntries(test.headerNames.map(name => [name, ''])),
    Body: '',
    MetaData: { target_url: displayUrl, api_id: api.id, host_name: secrets.redact(host) },
  };
  emitEvent(event, { api, path: '', clientAddress: '' }, message, { host_info });
}

/** Redacts results for display. Of hosts that become equal the first is kept. */
function redactHosts(hosts: readonly UptimeResult[], redact: (text: string) => string): UptimeResult[] {
  const named = hosts.map(it => ({ ...it, host: redact(it.host), url: redact(it.url), failure: redact(it.failure) }));
  return [...new Map(named.toReversed().map(it => [it.host, it])).values()].toReversed();
}
