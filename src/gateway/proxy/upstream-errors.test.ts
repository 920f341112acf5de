import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyFromBytes, noBody } from '../http/body.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { createUpstreamError } from './http1/errors.ts';
import { isRetryable, toRefusalCode } from './upstream-errors.ts';

const createCall = (body = noBody()) => ({ isClientDisconnected: false, body }) as Exchange;
const call = createCall();

test('errors of the HTTP/1.1 engine are refused by their kind', () => {
  const refusals = {
    queueFull: 'upstream_busy',
    headersTimeout: 'upstream_timeout',
    socket: 'upstream_failed',
    destroyed: 'upstream_failed',
    requestInvalid: 'upstream_failed',
    lengthMismatch: 'upstream_failed',
  } as const;
  for (const [kind, code] of Object.entries(refusals))
    assert.equal(toRefusalCode(call, createUpstreamError(kind as keyof typeof refusals, 'x')), code, kind);
});

test('only a closed connection that was reused is retried, for safe methods', () => {
  const createSocketError = (bytesRead: number) =>
    Object.assign(createUpstreamError('socket', 'x'), { socket: { bytesRead } });
  assert.equal(isRetryable(createSocketError(1), call, 'GET'), true);
  assert.equal(isRetryable(createSocketError(0), call, 'GET'), false);
  for (const method of ['POST', 'PATCH', 'PUT', 'DELETE'])
    assert.equal(isRetryable(createSocketError(1), call, method), false, method);
  assert.equal(isRetryable(createSocketError(1), createCall(bodyFromBytes(Buffer.from('a'))), 'PUT'), false);
  const timeout = Object.assign(createUpstreamError('headersTimeout', 'x'), { socket: { bytesRead: 1 } });
  assert.equal(isRetryable(timeout, call, 'GET'), false);
});
