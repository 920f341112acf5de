import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { createRpcClient, createRpcServer, type RpcRequest, type RpcResponse } from './thread-rpc.ts';

interface Table {
  double(given: number): Promise<number>;
  never(given: undefined): Promise<void>;
  missing(given: undefined): Promise<void>;
}

/** RPC client and server, connected by structured clones as threads are. */
function joinThreads(most?: number) {
  const replies: ((reply: RpcResponse) => void)[] = [];
  const answer = createRpcServer(
    { double: async (given: number) => given * 2, never: () => new Promise<void>(() => undefined) },
    reply => replies[0]!(structuredClone(reply)),
  );
  const asking = createRpcClient<Table>((question: RpcRequest) => void answer(structuredClone(question)), most);
  replies.push(asking.receive);
  return asking;
}

const isProblem = (code: string) => (error: unknown) => error instanceof Problem && error.code === `thread_rpc.${code}`;

test('each RPC request gets its own response', async () => {
  const { call: rpc } = joinThreads();
  assert.deepEqual(await Promise.all([rpc('double', 1, 1000), rpc('double', 21, 1000)]), [2, 42]);
});

test('an RPC request for an unknown method is rejected at once', async () => {
  await assert.rejects(joinThreads().call('missing', undefined, 1000), /unknown RPC method missing/);
});

test('an RPC request ends with its timeout or with the thread', async () => {
  const asking = joinThreads();
  await assert.rejects(asking.call('never', undefined, 1), isProblem('timed_out'));
  const left = asking.call('never', undefined, 60_000);
  asking.rejectAll();
  await assert.rejects(left, isProblem('ended'));
});

test('pending RPC requests are bounded', async () => {
  const asking = joinThreads(2);
  const waiting = [asking.call('never', undefined, 60_000), asking.call('never', undefined, 60_000)];
  await assert.rejects(asking.call('double', 1, 1000), isProblem('too_many'));
  asking.rejectAll();
  for (const each of await Promise.allSettled(waiting)) assert.equal(each.status, 'rejected');
  assert.equal(await asking.call('double', 1, 1000), 2);
});
