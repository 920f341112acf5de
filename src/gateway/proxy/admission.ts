import { clientNetwork } from './client-network.ts';
import type { Deadlines, Timed } from './timeout-queue.ts';

export interface AdmissionOptions {
  /** Requests under way at once: connections of HTTP/1.1, streams of HTTP/2. */
  readonly maxActive: number;
  readonly maxWaiting: number;
  /** How much of both one client network, one key or one organisation may have. */
  readonly maxSharePercent: number;
  readonly waitTimeouts: Deadlines;
}

/** Who a request counts for. */
export interface Claimant {
  readonly clientAddress: string;
  /** Empty for a request without a key. */
  readonly counterOwner: string;
}

/** A request that needs a place at the upstream. The admission alone writes its fields. */
export interface Admittable {
  place: 'none' | 'blocked' | 'ready' | 'active';
  client: Holder | undefined;
  key: Holder | undefined;
  organisation: Holder | undefined;
  /** The holder whose share is used up, while it waits for that. */
  blocker: Holder | undefined;
  /** Set while it waits. */
  wait: Timed | undefined;
  /** It has its place now; called for those that had to wait. */
  onAdmitted(): void;
  /** It has waited for too long, and no longer waits. */
  onWaitTimeout(): void;
}

/** A client network, a key or an organisation, and what it has of one upstream. */
class Holder {
  readonly name: string;
  /** Active and ready requests: these fit into its share. */
  reserved = 0;
  waiting = 0;
  blocked: Set<Admittable> | undefined = undefined;
  ready: Set<Admittable> | undefined = undefined;

  constructor(name: string) {
    this.name = name;
  }
}

/** Holders without requests that one upstream remembers, so that a request after the other makes no new object. */
const maxIdleHolders = 100;

/**
 * Admission control in front of one connection pool: at most `maxActive` requests are under way, of one holder at most its
 * share, and a bounded number waits. A waiting request is blocked (a share it counts for is used up) or ready (only the
 * pool is); client networks with ready requests take turns. Every move is a Set operation, without a search.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #clients = new Map<string, Holder>();
  readonly #keys = new Map<string, Holder>();
  readonly #organisations = new Map<string, Holder>();
  /** Clients with ready requests, in the order of their turns. */
  readonly #turns = new Set<Holder>();
  readonly #maxWaitingEach: number;
  #maxActive = 0;
  #maxActiveEach = 0;
  #active = 0;
  #waiting = 0;
  #isGranting = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#maxWaitingEach = shareOf(options.maxWaiting, options.maxSharePercent);
    this.resize(options.maxActive);
  }

  get active(): number {
    return this.#active;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Another number of places: an HTTP/2 upstream announces how many streams it takes. */
  resize(maxActive: number): void {
    this.#maxActive = Math.max(1, maxActive);
    this.#maxActiveEach = shareOf(this.#maxActive, this.#options.maxSharePercent);
    this.#grant();
  }

  /**
   * `active`: it may go on at once; `waiting`: `onAdmitted` says when; `refused`: the queue is full, for all or for it.
   * `orgId` is empty where one organisation has the gateway to itself.
   */
  admit(
    request: Admittable,
    { clientAddress, counterOwner }: Claimant,
    orgId: string,
  ): 'active' | 'waiting' | 'refused' {
    const client = holderIn(this.#clients, clientNetwork(clientAddress));
    const key = counterOwner === '' ? undefined : holderIn(this.#keys, counterOwner);
    const organisation = orgId === '' ? undefined : holderIn(this.#organisations, orgId);
    request.client = client;
    request.key = key;
    request.organisation = organisation;
    const isBlocked = this.#blockerOf(request) !== undefined;
    if (!isBlocked && this.#active < this.#maxActive) {
      request.place = 'active';
      this.#active++;
      reserve(request, 1);
      return 'active';
    }
    if (this.#waiting >= this.#options.maxWaiting || this.#waitsFully(client, key, organisation)) {
      this.#forgetIdle(request);
      return 'refused';
    }
    this.#waiting++;
    countWaiting(request, 1);
    this.#queue(request);
    request.wait = { dueAt: 0, late: () => this.#expire(request) };
    this.#options.waitTimeouts.watch(request.wait);
    return 'waiting';
  }

  /** Gives its place back, in the queue or at the upstream, and that place to the next. Harmless when it has none. */
  release(request: Admittable): void {
    const { place, client, key, organisation } = request;
    if (place === 'none') return;
    request.place = 'none';
    if (place === 'active') {
      this.#active--;
      reserve(request, -1);
    } else {
      this.#stopWaiting(request);
      if (place === 'blocked') request.blocker!.blocked!.delete(request);
      else this.#unready(request);
      request.blocker = undefined;
    }
    if (place !== 'blocked' && this.#waiting > 0) {
      if (client) this.#unblock(client);
      if (key) this.#unblock(key);
      if (organisation) this.#unblock(organisation);
      this.#grant();
    }
    this.#forgetIdle(request);
  }

  #expire(request: Admittable): void {
    this.release(request);
    request.onWaitTimeout();
  }

  #unready(request: Admittable): void {
    const turn = request.client!;
    turn.ready!.delete(request);
    if (turn.ready!.size === 0) this.#turns.delete(turn);
    reserve(request, -1);
  }

  #stopWaiting(request: Admittable): void {
    this.#options.waitTimeouts.forget(request.wait!);
    request.wait = undefined;
    this.#waiting--;
    countWaiting(request, -1);
  }

  #waitsFully(client: Holder | undefined, key: Holder | undefined, organisation: Holder | undefined): boolean {
    const most = this.#maxWaitingEach;
    return (
      (client !== undefined && client.waiting >= most) ||
      (key !== undefined && key.waiting >= most) ||
      (organisation !== undefined && organisation.waiting >= most)
    );
  }

  #blockerOf({ client, key, organisation }: Admittable): Holder | undefined {
    const most = this.#maxActiveEach;
    if (client !== undefined && client.reserved >= most) return client;
    if (key !== undefined && key.reserved >= most) return key;
    if (organisation !== undefined && organisation.reserved >= most) return organisation;
    return undefined;
  }

  #queue(request: Admittable): void {
    const blocker = this.#blockerOf(request);
    request.blocker = blocker;
    if (blocker) {
      request.place = 'blocked';
      blocker.blocked ??= new Set();
      blocker.blocked.add(request);
      return;
    }
    request.place = 'ready';
    reserve(request, 1);
    const turn = request.client!;
    turn.ready ??= new Set();
    turn.ready.add(request);
    this.#turns.add(turn);
  }

  /** One that another holder blocks as well moves on to that one, so that it keeps no place of this one. */
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
    // Who gets a place may give it back at once: the loop that is running goes on with it.
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
        request!.place = 'active';
        this.#active++;
        request!.onAdmitted();
      }
    } finally {
      this.#isGranting = false;
    }
  }

  #forgetIdle({ client, key, organisation }: Admittable): void {
    if (client) forgetIn(this.#clients, client);
    if (key) forgetIn(this.#keys, key);
    if (organisation) forgetIn(this.#organisations, organisation);
  }
}

export type { Holder };

const shareOf = (all: number, percent: number): number => Math.max(1, Math.floor((all * percent) / 100));

function holderIn(holders: Map<string, Holder>, name: string): Holder {
  let holder = holders.get(name);
  if (!holder) {
    holder = new Holder(name);
    holders.set(name, holder);
  }
  return holder;
}

function forgetIn(holders: Map<string, Holder>, holder: Holder): void {
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
