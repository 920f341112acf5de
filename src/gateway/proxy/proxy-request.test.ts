import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { Pool } from 'undici';
import { createLog } from '#base/log.ts';
import { TimeoutQueue } from '#base/timeout-queue.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { createResponse } from '../http/response.ts';
import { type Chain, Exchange } from '../pipeline/exchange.ts';
import type { ResponseWriter } from '../pipeline/response-writer.ts';
import { Admission } from './admission.ts';
import { type AdmittingPool, ProxyRequest } from './proxy-request.ts';
import type { ResponseContext } from './response-context.ts';
import { createUndiciDispatcher, type UpstreamDispatcher } from './upstream-dispatcher.ts';

const text = 'a response';

const createCall = (more: Partial<Chain>) => {
  const call = new Exchange({
    ...{ method: 'GET', target: '/', path: '/', query: '', host: 'x', clientAddress: '127.0.0.1' },
    ...{ headers: new HeaderList(), body: noBody(), receivedAtMs: 0, startedAt: 0 },
    peer: { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined },
  });
  call.chain = {
    ...{
      request: [],
      response: [],
      transformBody: [],
      captureBody: [],
      onUpstreamResult: [],
      buffersResponse: [],
      onFinish: [],
    },
    ...{ finalizeResponse: [], replaceRefusal: [], onRefusal: [] },
    names: { request: [], response: [] },
    ...more,
  };
  return call;
};

/** Collects what the client gets; a slow client pauses after each chunk. */
function createCollector(isSlow: boolean) {
  const events: string[] = [];
  const writer: ResponseWriter = {
    onDrain: undefined,
    writeHead: status => void events.push(`head ${status}`),
    write: chunk => {
      events.push(`chunk ${Buffer.from(chunk)}`);
      if (isSlow) setImmediate(() => writer.onDrain?.());
      return !isSlow;
    },
    end: chunk => void events.push(chunk ? `end ${Buffer.from(chunk)}` : 'end'),
    abort: () => void events.push('abort'),
  };
  return { events, writer };
}

describe('proxied request', () => {
  const server = createServer((request, response) => {
    if (request.url === '/chunked') {
      response.write(text);
      return void response.end();
    }
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
  });
  let upstream: Pool;
  let dispatcher: UpstreamDispatcher;
  before(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    upstream = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    dispatcher = createUndiciDispatcher(upstream, { maxHeaderBytes: 65_536, maxHeaders: 1000 }, 10_000);
  });
  after(async () => {
    // Waits for requests in flight: none may be left paused.
    await upstream.close();
    server.close();
  });

  /** Sends a request through the chain; resolves with the client's events and the records when the exchange ends. */
  async function run(more: Partial<Chain>, { path = '/', isSlow = false } = {}) {
    const { events, writer } = createCollector(isSlow);
    const records: boolean[] = [];
    const ended = Promise.withResolvers<void>();
    const waitTimeouts = new TimeoutQueue(10_000);
    const admission = new Admission({ maxActive: 1, maxWaiting: 1, maxSharePercent: 100, waitTimeouts });
    const context: ResponseContext = {
      ...{ maxResponseBytes: 1000, maxBufferedBytes: 1000, bufferingTimeouts: new TimeoutQueue(10_000) },
      responder: {
        log: createLog({ level: 'silent', format: 'json' }),
        ...{ overrideRefusal: () => undefined, onUpstreamFailure: undefined },
        record(_call, isComplete) {
          records.push(isComplete);
          ended.resolve();
        },
      },
    };
    const pool: AdmittingPool = { admission, dispatch: (...given) => dispatcher.dispatch(...given) };
    const options = { origin: '', path, method: 'GET', headers: [], body: undefined, hasCallerTimeout: true };
    new ProxyRequest(createCall(more), writer, context, pool, options).send();
    await ended.promise;
    return { events, records, active: admission.active };
  }

  const wait = async () => undefined;
  const fail = (): never => {
    throw new Error('a capture failed');
  };
  const replacing = { finalizeResponse: [() => createResponse(203, {}, 'stored')] };
  const failingHook = { captureBody: [fail] };
  const failingCapture = { captureBody: [() => ({ maxBytes: 1000, complete: (bytes?: Buffer) => bytes && fail() })] };
  const refused = ['head 502', 'end {\n    "error": "There was a problem proxying the request"\n}'];
  const done = { records: [true], active: 0 };

  const cases: readonly [name: string, chain: Partial<Chain>, outcome: Awaited<ReturnType<typeof run>>][] = [
    ['streams a response', {}, { events: ['head 200', `end ${text}`], ...done }],
    ['streams after an asynchronous step', { response: [wait] }, { events: ['head 200', `end ${text}`], ...done }],
    [
      'writes a buffered response whole',
      { buffersResponse: [() => true], response: [wait] },
      { events: ['head 200', `end ${text}`], ...done },
    ],
    [
      'sends the response of a step in place of the upstream’s',
      replacing,
      { events: ['head 203', 'end stored'], ...done },
    ],
    [
      'sends it after an asynchronous step too',
      { ...replacing, response: [wait] },
      { events: ['head 203', 'end stored'], ...done },
    ],
    [
      'sends it in place of a buffered response',
      { ...replacing, buffersResponse: [() => true] },
      { events: ['head 203', 'end stored'], ...done },
    ],
    ['is refused when a capture hook throws', failingHook, { events: refused, ...done }],
    [
      'is refused when a capture hook throws after an asynchronous step',
      { ...failingHook, response: [wait] },
      { events: refused, ...done },
    ],
    [
      'is truncated when the capture of a streamed body throws',
      failingCapture,
      { events: ['head 200', 'abort'], records: [false], active: 0 },
    ],
    [
      'is refused when the capture of a buffered body throws',
      { ...failingCapture, buffersResponse: [() => true] },
      { events: refused, ...done },
    ],
    [
      'is refused when the capture of a buffered body throws after an asynchronous step',
      { ...failingCapture, buffersResponse: [() => true], response: [wait] },
      { events: refused, ...done },
    ],
  ];
  for (const [name, chain, outcome] of cases)
    test(`${name}; the exchange ends once and releases its slot`, async () => {
      assert.deepEqual(await run(chain), outcome);
    });

  test('a capture is notified of a client that is slow to read, and completes with the whole body', async () => {
    for (const isSlow of [false, true]) {
      const captured: string[] = [];
      const capture = {
        maxBytes: 1000,
        onPause: () => void captured.push('pause'),
        complete: (bytes?: Buffer) => void captured.push(String(bytes)),
      };
      const { events } = await run({ captureBody: [() => capture] }, { path: '/chunked', isSlow });
      assert.deepEqual(events, ['head 200', `chunk ${text}`, 'end']);
      assert.deepEqual(captured, isSlow ? ['pause', text] : [text]);
    }
  });
});
