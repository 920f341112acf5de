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
  /** Maps keep insertion order: the first entry is next, and goes to the end once it has had its turn. */
  const clients = new Map<string, Map<string, Job[]>>();
  let running = 0;
  let waiting = 0;

  function add(job: Job): void {
    const accounts = clients.get(job.client) ?? new Map<string, Job[]>();
    clients.set(job.client, accounts);
    const jobs = accounts.get(job.account) ?? [];
    accounts.set(job.account, jobs);
    jobs.push(job);
    waiting++;
  }

  function takeNext(): Job | undefined {
    const [client, accounts] = first(clients) ?? [];
    const [account, jobs] = (accounts && first(accounts)) ?? [];
    if (client === undefined || accounts === undefined || account === undefined || jobs === undefined) return undefined;
    const job = jobs.shift()!;
    waiting--;
    accounts.delete(account);
    if (jobs.length > 0) accounts.set(account, jobs);
    clients.delete(client);
    if (accounts.size > 0) clients.set(client, accounts);
    return job;
  }

  function release(): void {
    running--;
    while (running < maxRunning) {
      const job = takeNext();
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
    for (let job = takeNext(); job; job = takeNext()) {
      if (job.isWanted?.() === false) job.reject(new Abandoned('the client has disconnected'));
      else remaining.push(job);
    }
    for (const job of remaining) add(job);
  }

  /** Makes room for a job of this client, or throws where the client itself has the most waiting. */
  function makeRoom(client: string): void {
    dropAbandoned();
    if (waiting < maxWaiting) return;
    const sizeOf = (name: string) => [...(clients.get(name)?.values() ?? [])].reduce((sum, it) => sum + it.length, 0);
    const [largest, size] = [...clients.keys()]
      .map(name => [name, sizeOf(name)] as const)
      .reduce((one, other) => (other[1] > one[1] ? other : one));
    if (sizeOf(client) + 1 >= size) throw createOverload();
    dropNewest(clients.get(largest)!, largest);
  }

  function dropNewest(accounts: Map<string, Job[]>, client: string): void {
    const [account, jobs] = [...accounts].reduce((one, other) => (other[1].length > one[1].length ? other : one));
    const job = jobs.pop()!;
    waiting--;
    if (jobs.length === 0) accounts.delete(account);
    if (accounts.size === 0) clients.delete(client);
    job.reject(createOverload());
  }

  return {
    async run<T>(flow: Flow, work: () => Promise<T>): Promise<T> {
      if (running < maxRunning) running++;
      else {
        if (waiting >= maxWaiting) makeRoom(flow.client);
        await new Promise<void>((start, reject) => add({ ...flow, start, reject }));
      }
      try {
        return await work();
      } finally {
        release();
      }
    },
    get waiting() {
      return waiting;
    },
  };
}

const first = <K, V>(map: Map<K, V>): [K, V] | undefined => map.entries().next().value;
