import { setTimeout as wait } from 'node:timers/promises';
import type { NodeStore, SystemNode } from './node-store.ts';

export interface NodeWaitOptions {
  readonly nodes: Pick<NodeStore, 'list'>;
  readonly clock: { now(): number };
  /** State of this process. */
  readonly describeNode: () => SystemNode;
  readonly timeoutMs?: number;
}

/** Other processes with traffic threads. */
export interface NodeWaitResult {
  readonly served: readonly SystemNode[];
  /** Processes that do not serve the revision within the timeout. */
  readonly stale: readonly SystemNode[];
}

/** Wait for other processes; the wait for the threads of this one has the same timeout. */
const nodeWaitTimeoutMs = 10_000;
/** Interval of the reads that all waits share. */
const pollIntervalMs = 100;

/** Waits until the other processes that run report a revision: each writes its own to the table of nodes. */
export function createNodeWait({ nodes, clock, describeNode, timeoutMs = nodeWaitTimeoutMs }: NodeWaitOptions) {
  let sharedRead: Promise<SystemNode[]> | undefined;

  /** One read per interval, however many requests wait. A failed read is not shared with later polls. */
  function readNodes(): Promise<SystemNode[]> {
    if (sharedRead) return sharedRead;
    const read = nodes.list(clock.now());
    sharedRead = read;
    const release = () => {
      sharedRead = undefined;
    };
    read.then(() => setTimeout(release, pollIntervalMs).unref(), release);
    return read;
  }

  async function poll(revision: number): Promise<NodeWaitResult> {
    const own = describeNode();
    const others = (await readNodes()).filter(it => it.id !== own.id || it.hostname !== own.hostname);
    const gateways = others.filter(({ traffic }) => traffic !== undefined);
    const isServed = ({ traffic }: SystemNode) => traffic!.revision >= revision;
    return { served: gateways.filter(isServed), stale: gateways.filter(it => !isServed(it)) };
  }

  return async function waitForNodes(revision: number): Promise<NodeWaitResult> {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
    }, timeoutMs);
    try {
      for (;;) {
        const result = await poll(revision);
        if (result.stale.length === 0 || isOver) return result;
        await wait(pollIntervalMs);
      }
    } finally {
      clearTimeout(timer);
    }
  };
}
