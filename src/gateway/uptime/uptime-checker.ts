import type { UptimeResult } from '#analytics/uptime/uptime-result.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Model } from '#definition/model.ts';
import { type DiscoveryRules, InvalidDiscoveryResponse } from '../proxy/discovery-response.ts';
import { createHostStatus, hasUptimeTests, toHostAndPort } from '../proxy/host-status.ts';
import type { ServiceDiscovery } from '../proxy/service-discovery.ts';
import type { Api } from '../routing/api.ts';
import type { Snapshot } from '../routing/snapshot.ts';
import type { StepServices } from '../steps/step-services.ts';
import { type Check, type HostTest, hostTest, type TestResult } from './http-check.ts';
import { findings } from './uptime-results.ts';

export interface UptimeOptions {
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
  /** Of their own, so that tests keep nobody waiting and nobody keeps them. */
  readonly outbound: OutboundClient;
  readonly snapshot: () => Snapshot;
  /** Hears what each round found out. */
  tested(hosts: readonly UptimeResult[]): void;
}

/** Tests of one API; of a longer list only the first are made. */
const testsEach = 100;
/** APIs one thread tests at once, and tests of one API at once. */
const roundsAtOnce = 20;
const lanesEach = 5;
/** How long it is remembered how a test went; shorter than what counters keep over a restart. */
const rememberedMs = 3_500_000;
const looksASecond = 4;
/** A round whose thread ended is taken up by another one after this. */
const givenUpMs = 60_000;

/**
 * Tests the hosts of APIs that ask for it. All threads of a process look for rounds that are due and the first one to see
 * it makes it, so that the tests of an API are made once, and go on when a thread ends. What came of them is counted where
 * all threads see it. Tests stop when their API is gone: nobody looks for its rounds any more.
 */
export function uptime({ services, outbound, snapshot, tested }: UptimeOptions): { close(): Promise<void> } {
  const { settings, clock, processCounters, log } = services;
  const intervalMs = settings['uptime.interval_ms'];
  const round = { limit: 1, periodMs: intervalMs } as const;
  const underWay = { limit: 1, periodMs: givenUpMs } as const;
  const judge = judging(services, tested);
  const busy = new Set<string>();

  function look(): void {
    for (const api of testedIn(snapshot())) {
      if (busy.size >= roundsAtOnce) return;
      if (!busy.has(api.id) && begins(api)) {
        busy.add(api.id);
        made(api)
          .catch(error => log.error({ err: error, api: api.id }, 'uptime tests could not be made'))
          .finally(() => ended(api));
      }
    }
  }

  /** Whether a round is due that no thread has begun. */
  function begins({ id }: Api): boolean {
    const now = clock.now();
    const [due, begun] = [`uptime round ${id}`, `uptime begun ${id}`];
    if (!processCounters.peek(due, round, now).allowed || !processCounters.take(begun, underWay, now).allowed)
      return false;
    // Another thread may have made it between the two.
    if (processCounters.take(due, round, now).allowed) return true;
    processCounters.reset(begun);
    return false;
  }

  function ended({ id }: Api): void {
    busy.delete(id);
    processCounters.reset(`uptime begun ${id}`);
  }

  async function made(api: Api): Promise<void> {
    const { tests } = api.model.uptimeTests;
    const policy = services.addressPolicies.withNetworks(services.grants.of(api.orgId).networks);
    const found = await discovered(api.model, services.networkFor(policy).serviceDiscovery);
    const all = [...tests, ...found]
      .slice(0, testsEach)
      .flatMap(check => hostTest(check, { outbound, links: api.connectionOptionsFor }) ?? []);
    const results = new Map<HostTest, TestResult>();
    const waiting = [...all];
    const lane = async () => {
      for (let test = waiting.shift(); test; test = waiting.shift()) results.set(test, await test.run());
    };
    await Promise.all(Array.from({ length: lanesEach }, lane));
    // A later definition has later results.
    if (!closed && snapshot().apis.get(api.id) === api) judge(api, results);
  }

  let closed = false;
  const timer = setInterval(look, Math.min(intervalMs, 1000) / looksASecond).unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await outbound.close();
    },
  };
}

const testedApis = new WeakMap<Snapshot['apis'], readonly Api[]>();

function testedIn({ apis }: Snapshot): readonly Api[] {
  let found = testedApis.get(apis);
  if (!found) {
    found = [...apis.values()].filter(
      ({ model, unavailableReason: unserved }) => model.identity.active && !unserved && hasUptimeTests(model),
    );
    testedApis.set(apis, found);
  }
  return found;
}

async function discovered(model: Model, serviceDiscovery: ServiceDiscovery): Promise<readonly Check[]> {
  const { uptimeDiscovery, uptimeTests } = model;
  if (!uptimeDiscovery.enabled) return [];
  const again = uptimeTests.hostDownRetestSeconds;
  // Tests name whole addresses: what is put behind the hosts of a registry has no place in a list of them.
  const found: DiscoveryRules = { ...uptimeDiscovery, portDataPath: '', targetPath: '' };
  const rules = again > 0 ? { ...found, cacheEnabled: true, cacheSeconds: again } : found;
  return serviceDiscovery.of('tests', rules, checksIn).list();
}

/** The first text is a list of tests as the classic form writes them. */
export function checksIn([text = '']: readonly string[]): Check[] {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    throw new InvalidDiscoveryResponse('the list of tests is not JSON');
  }
  if (!Array.isArray(list)) throw new InvalidDiscoveryResponse('there is no list of tests');
  return list.slice(0, testsEach).flatMap(checkOf);
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

function checkOf(given: unknown): Check[] {
  if (typeof given !== 'object' || given === null) return [];
  const { url, protocol, timeout, method, headers, body, enable_proxy_protocol, commands } = given as Record<
    string,
    unknown
  >;
  if (typeof url !== 'string') return [];
  const named = Object.entries(typeof headers === 'object' && headers !== null ? headers : {});
  return [
    {
      url,
      protocol: textOf(protocol),
      timeoutMs: Number.isInteger(timeout) ? Math.max(0, Number(timeout)) : 0,
      method: textOf(method),
      headers: Object.fromEntries(named.filter(([, value]) => typeof value === 'string')) as Check['headers'],
      body: textOf(body),
      enableProxyProtocol: enable_proxy_protocol === true,
      commands: (Array.isArray(commands) ? commands : []).flatMap(it =>
        typeof it === 'object' && it !== null ? [{ name: textOf(it.name), message: textOf(it.message) }] : [],
      ),
    },
  ];
}

/** Counts what came of a round, marks hosts, tells handlers and whoever keeps results. */
function judging(
  { processCounters, clock, settings, emitEvent, secrets }: UptimeOptions['services'],
  tested: UptimeOptions['tested'],
) {
  const enough = settings['uptime.failures'];
  const keptMs = Math.min(settings['uptime.interval_ms'] * 100, rememberedMs);
  const kept = { limit: Number.POSITIVE_INFINITY, periodMs: keptMs, opens: 'every' } as const;

  /** Failures count up, successes down; one end means down, the other up again. */
  function isDown(key: string, passed: boolean): { before: boolean; after: boolean } {
    const now = clock.now();
    const [fails, down] = [`uptime fails ${key}`, `uptime down ${key}`];
    const before = processCounters.peek(down, kept, now).used > 0;
    const counted = processCounters.peek(fails, kept, now).used;
    const next = passed ? Math.max(0, counted - 1) : Math.min(enough, counted + 1);
    processCounters.reset(fails);
    if (next > 0) processCounters.take(fails, kept, now, next);
    const after = passed ? before && next > 0 : before || next >= enough;
    if (after) processCounters.take(down, kept, now);
    else processCounters.reset(down);
    return { before, after };
  }

  return (api: Api, results: ReadonlyMap<HostTest, TestResult>): void => {
    const found = findings(api, clock.now());
    for (const [test, result] of results) {
      const host = toHostAndPort(test.origin);
      const { before, after } = isDown(`${api.id} ${test.name}`, result.passed);
      found.add(host, test, result, after);
      const event = after && !result.passed ? 'HostDown' : before && !after ? 'HostUp' : undefined;
      if (event) tell(event, api, host, test, result);
    }
    const marks = createHostStatus({ processCounters, clock, settings }, api.id);
    const hosts = found.hosts();
    for (const { host, up } of hosts) {
      if (up) marks.markUp(host);
      else marks.markDown(host);
    }
    tested(redactHosts(hosts, secrets.redact));
  };

  function tell(event: 'HostDown' | 'HostUp', api: Api, host: string, test: HostTest, result: TestResult): void {
    const message = event === 'HostDown' ? 'Uptime test failed' : 'Uptime test succeeded';
    const shownUrl = secrets.redact(test.shownUrl);
    const host_info = {
      CheckURL: shownUrl,
      ResponseCode: result.status,
      Latency: result.latencyMs,
      IsTCPError: result.failure !== '',
      Method: test.method,
      // Values may be credentials: who is told gets the names.
      Headers: Object.fromEntries(test.headerNames.map(name => [name, ''])),
      Body: '',
      MetaData: { target_url: shownUrl, api_id: api.id, host_name: secrets.redact(host) },
    };
    emitEvent(event, { api, path: '', clientAddress: '' }, message, { host_info });
  }
}

/** Redacts results, which people read. Of hosts that look alike then, the first counts. */
function redactHosts(hosts: readonly UptimeResult[], redact: (text: string) => string): UptimeResult[] {
  const named = hosts.map(it => ({ ...it, host: redact(it.host), url: redact(it.url), failure: redact(it.failure) }));
  return [...new Map(named.toReversed().map(it => [it.host, it])).values()].toReversed();
}
