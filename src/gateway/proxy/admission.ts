import { toAddressKey } from '#base/address-key.ts';
import type { TimeoutEntry, TimeoutQueue } from '#base/timeout-queue.ts';

export interface AdmissionOptions {
  /** Concurrent requests: connections of HTTP/1.1, streams of HTTP/2. */
  readonly maxActive: number;
  readonly maxWaiting: number;
  /** Share of both that one client network, one key or one organisation may use. */
  readonly maxSharePercent: number;
  readonly waitTimeouts: TimeoutQueue;
}

/** Client, key and organisation a request counts for. */
export interface Claimant {
  readonly clientAddress: string;
  /** Empty for a request without a key. */
  readonly counterOwner: string;
}

/** Request that needs a slot at the upstream. Only `Admission` writes these fields. */
export interface Admittable {
  admissionState: 'none' | 'blocked' | 'ready' | 'active';
  client: Holder | undefined;
  key: Holder | undefined;
  organisation: Holder | undefined;
  /** Holder whose share is used up, while the request is blocked by it. */
  blocker: Holder | undefined;
  /** Set while the request waits. */
  waitTimeout: TimeoutEntry | undefined;
  /** Called when a waiting request gets its slot. */
  onAdmitted(): void;
  /** Called when a request waited too long and left the queue. */
  onWaitTimeout(): void;
}

/** Client network, key or organisation, and its use of one upstream. */
class Holder {
  readonly name: string;
  /** Active and ready requests, which fit into its share. */
  reserved = 0;
  waiting = 0;
  blocked: Set<Admittable> | undefined = undefined;
  ready: Set<Admittable> | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** Idle holders cached per upstream, so that sequential requests allocate none. */
const maxIdleHolders = 100;

/**
 * Admission control in front of one connection pool: at most `maxActive` requests are active, each holder has at most
 * its share, and a bounded number waits. A waiting request is blocked (a share is used up) or ready (only the pool is
 * full); client networks with ready requests take turns (round robin). Every transition is a Set operation, without a
 * search.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #clients = new Map<string, Holder>();
  readonly #keys = new Map<string, Holder>();
  readonly #organisations = new Map<string, Holder>();
  /** Clients with ready requests, in round-robin order. */
  readonly #turns = new Set<Holder>();
  readonly #maxWaitingEach: number;
  #maxActive = 0;
  #maxActiveEach = 0;
  #active = 0;
  #waiting = 0;
  #isGranting = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#maxWaitingEach = toShare(options.maxWaiting, options.maxSharePercent);
    this.resize(options.maxActive);
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Changes the number of slots: an HTTP/2 upstream announces its maximum of streams. */
  resize(maxActive: number): void {
    this.#maxActive = Math.max(1, maxActive);
    this.#maxActiveEach = toShare(this.#maxActive, this.#options.maxSharePercent);
    this.#grant();
  }

  /**
   * `active`: dispatch at once; `waiting`: `onAdmitted` follows; `refused`: the queue is full, in total or for a
   * holder. `orgId` is empty where one organisation has the gateway to itself.
   */
  admit(
    request: Admittable,
    { clientAddress, counterOwner }: Claimant,
    orgId: string,
  ): 'active' | 'waiting' | 'refused' {
    const client = getHolder(this.#clients, toAddressKey(clientAddress));
    const key = counterOwner === '' ? undefined : getHolder(this.#keys, counterOwner);
    const organisation = orgId === '' ? undefined : getHolder(this.#organisations, orgId);
    request.client = client;
    request.key = key;
    request.organisation = organisation;
    const isBlocked = this.#blockerOf(request) !== undefined;
    if (!isBlocked && this.#active < this.#maxActive) {
      request.admissionState = 'active';
      this.#active++;
      reserve(request, 1);
      return 'active';
    }
    if (this.#waiting >= this.#options.maxWaiting || this.#isQueueFull(client, key, organisation)) {
      this.#evictIdle(request);
      return 'refused';
    }
    this.#waiting++;
    countWaiting(request, 1);
    this.#queue(request);
    request.waitTimeout = { expiresAtMs: 0, onTimeout: () => this.#expire(request) };
    this.#options.waitTimeouts.start(request.waitTimeout);
    return 'waiting';
  }

  /** Releases the slot or queue position and admits the next request. Idempotent. */
  release(request: Admittable): void {
    const { admissionState: state, client, key, organisation } = request;
    if (state === 'none') return;
    request.admissionState = 'none';
    if (state === 'active') {
      this.#active--;
      reserve(request, -1);
    } else {
      this.#stopWaiting(request);
      if (state === 'blocked') request.blocker!.blocked!.delete(request);
      else this.#removeReady(request);
      request.blocker = undefined;
    }
    if (state !== 'blocked' && this.#waiting > 0) {
      if (client) this.#unblock(client);
      if (key) this.#unblock(key);
      if (organisation) this.#unblock(organisation);
      this.#grant();
    }
    this.#evictIdle(request);
  }

  #expire(request: Admittable): void {
    this.release(request);
    request.onWaitTimeout();
  }

  #removeReady(request: Admittable): void {
    const turn = request.client!;
    turn.ready!.delete(request);
    if (turn.ready!.size === 0) this.#turns.delete(turn);
    reserve(request, -1);
  }

  #stopWaiting(request: Admittable): void {
    this.#options.waitTimeouts.clear(request.waitTimeout!);
    request.waitTimeout = undefined;
    this.#waiting--;
    countWaiting(request, -1);
  }

  #isQueueFull(client: Holder | undefined, key: Holder | undefined, organisation: Holder | undefined): boolean {
    const maxEach = this.#maxWaitingEach;
    return (
      (client !== undefined && client.waiting >= maxEach) ||
      (key !== undefined && key.waiting >= maxEach) ||
      (organisation !== undefined && organisation.waiting >= maxEach)
    );
  }

  #blockerOf({ client, key, organisation }: Admittable): Holder | undefined {
    const maxEach = this.#maxActiveEach;
    if (client !== undefined && client.reserved >= maxEach) return client;
    if (key !== undefined && key.reserved >= maxEach) return key;
    if (organisation !== undefined && organisation.reserved >= maxEach) return organisation;
    return undefined;
  }

  #queue(request: Admittable): void {
    const blocker = this.#blockerOf(request);
    request.blocker = blocker;
    if (blocker) {
      request.admissionState = 'blocked';
      blocker.blocked ??= new Set();
      blocker.blocked.add(request);
      return;
    }
    request.admissionState = 'ready';
    reserve(request, 1);
    const turn = request.client!;
    turn.ready ??= new Set();
    turn.ready.add(request);
    this.#turns.add(turn);
  }

  /** A request that another holder blocks as well moves to that holder, so that it reserves nothing here. */
  #unblock(holder: Holder): void {
    const { blocked } = holder;
    if (!blocked) return;
    for (const request of blocked) {
      if (holder.reserved >= this.#maxActiveEach) return;
      blocked.delete(request);
      this.#queue(request);
    }
  }

  #grant(): void {
    // `onAdmitted` may release at once: the running loop continues with that slot.
    if (this.#isGranting) return;
    this.#isGranting = true;
    try {
      for (const turn of this.#turns) {
        if (this.#active >= this.#maxActive) break;
        const [request] = turn.ready!;
        this.#turns.delete(turn);
        turn.ready!.delete(request!);
        if (turn.ready!.size > 0) this.#turns.add(turn);
        this.#stopWaiting(request!);
        request!.admissionState = 'active';
        this.#active++;
        request!.onAdmitted();
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #evictIdle({ client, key, organisation }: Admittable): void {
    if (client) evictIfIdle(this.#clients, client);
    if (key) evictIfIdle(this.#keys, key);
    if (organisation) evictIfIdle(this.#organisations, organisation);
  }
}

export type { Holder };

const toShare = (all: number, percent: number): number => Math.max(1, Math.floor((all * percent) / 100));

function getHolder(holders: Map<string, Holder>, name: string): Holder {
  let holder = holders.get(name);
  if (!holder) {
    holder = new Holder(name);
    holders.set(name, holder);
  }
  return holder;
}

function evictIfIdle(holders: Map<string, Holder>, holder: Holder): void {
  if (holders.size > maxIdleHolders && holder.reserved === 0 && holder.waiting === 0) holders.delete(holder.name);
}

function reserve({ client, key, organisation }: Admittable, by: 1 | -1): void {
  if (client) client.reserved += by;
  if (key) key.reserved += by;
  if (organisation) organisation.reserved += by;
}

function countWaiting({ client, key, organisation }: Admittable, by: 1 | -1): void {
  if (client) client.waiting += by;
  if (key) key.waiting += by;
  if (organisation) organisation.waiting += by;
}
