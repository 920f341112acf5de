/** Owner of a job: round robin goes over clients first, then over the accounts of each. */
export interface Flow {
  readonly client: string;
  readonly account: string;
  /** False once the client has disconnected: its job is dropped instead of run. */
  readonly isWanted?: () => boolean;
}

export interface FairQueueBounds {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

interface Job extends Flow {
  readonly start: () => void;
  readonly reject: (error: Error) => void;
}

/** The client disconnected while its job was waiting. */
export class Abandoned extends Error {}

/**
 * Fair queueing: jobs run a few at a time, in round robin over clients, so that many jobs of one client delay another
 * client's by one turn only. When the queue is full, the client with the most waiting jobs loses its newest one.
 */
export function createFairQueue({ maxRunning, maxWaiting }: FairQueueBounds, createOverload: () => Error) {
  const queue = createRoundRobin();
  let running = 0;

  function release(): void {
    running--;
    while (running < maxRunning) {
      const job = queue.takeNext();
      if (!job) return;
      if (job.isWanted?.() === false) job.reject(new Abandoned('the client has disconnected'));
      else {
        running++;
        job.start();
      }
    }
  }

  function dropAbandoned(): void {
    const remaining: Job[] = [];
    for (let job = queue.takeNext(); job; job = queue.takeNext()) {
      if (job.isWanted?.() === false) job.reject(new Abandoned('the client has disconnected'));
      else remaining.push(job);
    }
    for (const job of remaining) queue.add(job);
  }

  /** Makes room for a job of this client, or throws where the client itself has the most waiting. */
  function makeRoom(client: string): void {
    dropAbandoned();
    if (queue.size < maxWaiting) return;
    const largest = queue.findLargest();
    if (queue.sizeOf(client) + 1 >= queue.sizeOf(largest)) throw createOverload();
    queue.takeNewest(largest).reject(createOverload());
  }

  return {
    async run<T>(flow: Flow, work: () => Promise<T>): Promise<T> {
      if (running < maxRunning) running++;
      else {
        if (queue.size >= maxWaiting) makeRoom(flow.client);
        await new Promise<void>((start, reject) => queue.add({ ...flow, start, reject }));
      }
      try {
        return await work();
      } finally {
        release();
      }
    },
    get running() {
      return running;
    },
    get waiting() {
      return queue.size;
    },
  };
}

/** Waiting jobs by client and account, in round robin. */
function createRoundRobin() {
  /** Maps keep insertion order: the first entry is next, and goes to the end once it has had its turn. */
  const clients = new Map<string, Map<string, Job[]>>();
  let size = 0;
  const sizeOf = (client: string) =>
    [...(clients.get(client)?.values() ?? [])].reduce((sum, jobs) => sum + jobs.length, 0);

  return {
    get size() {
      return size;
    },
    sizeOf,
    add(job: Job): void {
      const accounts = clients.get(job.client) ?? new Map<string, Job[]>();
      clients.set(job.client, accounts);
      const jobs = accounts.get(job.account) ?? [];
      accounts.set(job.account, jobs);
      jobs.push(job);
      size++;
    },
    takeNext(): Job | undefined {
      const [client, accounts] = first(clients) ?? [];
      const [account, jobs] = (accounts && first(accounts)) ?? [];
      if (client === undefined || accounts === undefined || account === undefined || jobs === undefined)
        return undefined;
      const job = jobs.shift()!;
      size--;
      accounts.delete(account);
      if (jobs.length > 0) accounts.set(account, jobs);
      clients.delete(client);
      if (accounts.size > 0) clients.set(client, accounts);
      return job;
    },
    /** The client with the most jobs; the queue must not be empty. */
    findLargest(): string {
      const sizes = [...clients.keys()].map(client => [client, sizeOf(client)] as const);
      return sizes.reduce((one, other) => (other[1] > one[1] ? other : one))[0];
    },
    /** The newest job of the largest account of a client that has one. */
    takeNewest(client: string): Job {
      const accounts = clients.get(client)!;
      const [account, jobs] = [...accounts].reduce((one, other) => (other[1].length > one[1].length ? other : one));
      const job = jobs.pop()!;
      size--;
      if (jobs.length === 0) accounts.delete(account);
      if (accounts.size === 0) clients.delete(client);
      return job;
    },
  };
}

const first = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;
