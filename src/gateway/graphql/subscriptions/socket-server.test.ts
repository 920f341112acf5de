import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { describe, test } from 'node:test';
import type { CheckedGraphqlRequest, SocketDecision } from '../../pipeline/checked-graphql.ts';
import { toFrame } from '../../proxy/websocket-frames.ts';
import { GraphqlSocketServer } from './socket-server.ts';

const message = (value: object) => toFrame(1, Buffer.from(JSON.stringify(value)), true);
const request = {} as CheckedGraphqlRequest;

function openServer(check: () => Promise<SocketDecision>) {
  const [ours, theirs] = duplexPair();
  const { promise: closed, resolve: onClose } = Promise.withResolvers<number>();
  let runs = 0;
  const server = new GraphqlSocketServer(ours, {
    socket: {
      ...{ protocol: 'graphql-transport-ws', maxMessageBytes: 1000, maxOperations: 3, pingIntervalMs: 0 },
      readMessage: text => JSON.parse(text),
      check,
      watch: () => () => undefined,
    },
    closeTimeoutMs: 60_000,
    async *run() {
      runs++;
      yield { data: { name: '€' } };
    },
    onError: error => assert.fail(error as Error),
    onClose,
  });
  theirs.resume();
  theirs.write(message({ type: 'connection_init' }));
  theirs.write(message({ id: '1', type: 'subscribe', payload: {} }));
  return { ours, theirs, server, closed, countRuns: () => runs };
}

describe('server of GraphQL over WebSocket', () => {
  for (const [about, end] of [
    ['ends', ({ ours }) => void ours.destroy()],
    ['is closed', ({ server }) => server.goAway()],
  ] as const satisfies [string, (opened: ReturnType<typeof openServer>) => void][])
    test(`an operation whose connection ${about} during its check is not run`, async () => {
      const { promise: decided, resolve: decide } = Promise.withResolvers<SocketDecision>();
      const { promise: started, resolve: start } = Promise.withResolvers<void>();
      const opened = openServer(() => {
        start();
        return decided;
      });
      await started;
      end(opened);
      if (about === 'ends') await opened.closed;
      decide({ kind: 'execute', request });
      await new Promise(setImmediate);
      assert.equal(opened.countRuns(), 0);
      opened.ours.destroy();
      await opened.closed;
    });

  test('sent bytes are those of the messages in UTF-8', async () => {
    const { theirs, closed } = openServer(async () => ({ kind: 'execute', request }));
    const sent = [
      { type: 'connection_ack' },
      { id: '1', type: 'next', payload: { data: { name: '€' } } },
      { id: '1', type: 'complete' },
    ].map(it => JSON.stringify(it));
    let received = '';
    theirs.on('data', (chunk: Buffer) => {
      received += chunk.toString();
    });
    while (!received.includes('complete')) await new Promise(setImmediate);
    theirs.end(toFrame(8, Buffer.from([0x03, 0xe8]), true));
    assert.equal(await closed, Buffer.byteLength(sent.join('')));
  });
});
