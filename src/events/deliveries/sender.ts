import { type Clock, toUnixSeconds } from '#base/clock.ts';
import type { OutboundClient } from '#base/http-client/client.ts';
import type { Log } from '#base/log.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { type HookSecretStore, inlineSecret } from '../hooks/secret-store.ts';
import type { HookStore } from '../hooks/store.ts';
import { headersPurpose } from '../webhook-handler.ts';
import type { Lane, LaneStore } from './lane-store.ts';
import type { Attempt, Delivery } from './schema.ts';
import { signatureOf } from './signature.ts';
import type { DeliveryStore } from './store.ts';

export interface SenderOptions {
  readonly deliveries: DeliveryStore;
  readonly lanes: LaneStore;
  readonly hooks: Pick<HookStore, 'get'>;
  readonly hookSecrets: Pick<HookSecretStore, 'signing'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly outbound: OutboundClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: Settings;
}

/** Hooks this process calls at the same time: one that is slow holds up itself alone. */
const lanesAtOnce = 16;
/** Calls made for one hook before others have their turn. */
const callsInTurn = 50;
/** Whatever a webhook asks for. */
const longestTimeoutMs = 60_000;
/** Longer than a call may take: whoever still holds a lane then has died. */
const leaseMs = longestTimeoutMs + 20_000;
/** What another process left behind, or wrote, is found so soon. */
const lookEveryMs = 1000;
const longestPauseMs = 3_600_000;
/** Of an answer nobody reads. */
const answerBytes = 65_536;
/** How long calls under way may take to finish when the process is stopped. */
const graceMs = 2000;
const pruneEveryMs = 60_000;
const dayMs = 86_400_000;

const bodyless = new Set(['GET', 'DELETE']);

type Outcome = Attempt & { readonly isFinal?: boolean };

export type Sender = ReturnType<typeof startSender>;

/** Makes the calls that wait, for as long as the process runs. */
export function startSender(options: SenderOptions) {
  const { deliveries, lanes, clock, log, settings } = options;
  const attemptsAtMost = settings['events.attempts'];
  const active = new Set<Promise<void>>();
  const stopping = new AbortController();
  const totals = { delivered: 0, failed: 0, dead: 0 };
  const touched = new Set<string>();
  let closing = false;
  let isTroubled = false;
  let looking: Promise<void> | undefined;
  let again = false;
  let pruning = Promise.resolve();

  const pauseAfter = (attempts: number) => Math.min(settings['events.retry_ms'] * 2 ** (attempts - 1), longestPauseMs);
  /** Said once, until the queue can be used again. */
  function troubled(error: unknown): void {
    if (!isTroubled) log.warn({ reason: (error as Error).message }, 'webhook calls wait: their queue cannot be used');
    isTroubled = true;
  }

  function wake(): void {
    if (closing) return;
    again = true;
    looking ??= look().finally(() => {
      looking = undefined;
    });
  }

  async function look(): Promise<void> {
    while (again && !closing) {
      again = false;
      const room = lanesAtOnce - active.size;
      if (room <= 0) return;
      const claimed = await lanes.claim(clock.now(), leaseMs, room).catch(troubled);
      if (!claimed) return;
      isTroubled = false;
      for (const lane of claimed) {
        const doing: Promise<void> = walk(lane)
          .catch(troubled)
          .finally(() => {
            active.delete(doing);
            wake();
          });
        active.add(doing);
      }
    }
  }

  /** The calls of one hook, in their order, until one fails. */
  async function walk(lane: Lane): Promise<void> {
    for (let calls = 0; calls < callsInTurn && !closing; calls++) {
      if (calls > 0 && !(await lanes.renew(lane, clock.now(), leaseMs))) return;
      const delivery = await deliveries.next(lane.orgId, lane.hook);
      if (!delivery) return lanes.leave(lane);
      const outcome = await attempt(options, delivery, stopping.signal);
      // Nobody knows whether it arrived, so it is made again, under the same id.
      if (stopping.signal.aborted && outcome.error !== '') break;
      const pauseMs = await settle(delivery, outcome);
      if (pauseMs > 0) {
        setTimeout(wake, pauseMs).unref();
        return lanes.release(lane, clock.now() + pauseMs);
      }
    }
    await lanes.release(lane, clock.now());
  }

  /** Writes down how it went; gives how long the hook is left alone. */
  async function settle(delivery: Delivery, { isFinal = false, ...made }: Outcome): Promise<number> {
    const attempts = delivery.attempts + 1;
    const isOver = isFinal || attempts >= attemptsAtMost;
    const state = made.error === '' ? 'delivered' : isOver ? 'dead' : 'waiting';
    const kept = [...delivery.log, made].slice(-attemptsAtMost);
    await deliveries.settle(delivery, { state, attempts, status: made.status, log: kept }, clock.now());
    totals[state === 'waiting' ? 'failed' : state]++;
    touched.add(delivery.orgId);
    if (state === 'dead')
      log.warn({ delivery: delivery.publicId, hook: delivery.hook, reason: made.error }, 'a webhook call is given up');
    return state === 'waiting' ? pauseAfter(attempts) : 0;
  }

  /** What is too much can only be so where something was added. */
  function prune(orgIds?: ReadonlySet<string>): void {
    const before = clock.now() - settings['events.retention_days'] * dayMs;
    pruning = deliveries
      .prune(before, settings['events.log_rows'], clock.now(), orgIds)
      .then(removed => void (removed > 0 && !closing && setImmediate(prune, orgIds)), troubled);
  }
  function pruneTouched(): void {
    prune(new Set(touched));
    touched.clear();
  }

  const timers = [setInterval(wake, lookEveryMs), setInterval(pruneTouched, pruneEveryMs)];
  void lanes.begin().then(wake, troubled);
  prune();

  return {
    wake,
    totals: () => ({ ...totals, active: active.size }),
    async close(): Promise<void> {
      closing = true;
      for (const timer of timers) clearInterval(timer);
      const grace = setTimeout(() => stopping.abort(new Error('the gateway is stopping')), graceMs);
      await looking;
      await Promise.all(active);
      clearTimeout(grace);
      await pruning;
    },
  };
}

async function attempt(options: SenderOptions, delivery: Delivery, signal: AbortSignal): Promise<Outcome> {
  const { outbound, clock, settings, log } = options;
  const atMs = clock.now();
  const took = () => ({ atMs, ms: clock.now() - atMs });
  try {
    const target = await targetOf(options, delivery);
    if (!target) return { ...took(), status: 0, error: 'the webhook was removed', isFinal: true };
    const body = bodyless.has(target.method) ? '' : delivery.payload;
    const secrets = await options.hookSecrets.signing(delivery.orgId, target.secret, atMs);
    const { status } = await outbound.fetch({
      url: target.url,
      method: target.method,
      headers: {
        'user-agent': 'Gw-Hookshot',
        ...(body !== '' && delivery.contentType !== '' && { 'content-type': delivery.contentType }),
        ...lowerCase(target.headers),
        'x-gw-event': delivery.event,
        'x-gw-delivery': delivery.publicId,
        'x-gw-signature': signatureOf(secrets, toUnixSeconds(atMs), body),
      },
      ...(body !== '' && { body }),
      audience: 'operator',
      orgId: delivery.orgId,
      timeoutMs: Math.min(delivery.inline?.timeoutMs ?? settings['events.timeout_ms'], longestTimeoutMs),
      maxBytes: answerBytes,
      signal,
    });
    return { ...took(), status, error: status >= 200 && status < 300 ? '' : `it answered ${status}` };
  } catch (error) {
    if (!(error instanceof Problem) && !signal.aborted) log.error({ err: error }, 'a webhook call failed unforeseen');
    return { ...took(), status: 0, error: (error as Error).message };
  }
}

interface Target {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
}

/** A stored hook is called as it is now. */
async function targetOf(
  { hooks, vault }: SenderOptions,
  { inline, orgId, hook }: Delivery,
): Promise<Target | undefined> {
  if (inline) {
    const headers = JSON.parse(vault.open(inline.sealedHeaders, headersPurpose)) as Record<string, string>;
    return { method: inline.method, url: inline.url, headers, secret: inlineSecret };
  }
  const stored = await hooks.get(orgId, hook);
  if (!stored) return undefined;
  return { method: stored.method, url: stored.target_path, headers: stored.header_map, secret: stored.id };
}

/** Names are the same in any case; one that was written twice is sent once. */
const lowerCase = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
