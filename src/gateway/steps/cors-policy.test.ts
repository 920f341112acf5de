import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '#base/log.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { noBody } from '../http/body.ts';
import { HeaderList } from '../http/headers.ts';
import { Exchange } from '../pipeline/exchange.ts';
import { createCorsPolicy } from './cors-policy.ts';

const peer = { address: '127.0.0.1', isTls: false, serverName: '', certificate: undefined };
const callOf = (method: string, headers: string[]) =>
  new Exchange({
    method,
    target: '/',
    path: '/',
    query: '',
    host: 'h',
    headers: new HeaderList(headers),
    body: noBody(),
    peer,
    clientAddress: peer.address,
    receivedAtMs: 0,
    startedAt: 0,
  });

function createPolicy(rules: object) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog({ level: 'info', format: 'json', write: line => lines.push(JSON.parse(line)) });
  const model = classicToModel({ api_id: 'one', CORS: { enable: true, ...rules } } as unknown as ClassicDefinition);
  return { cors: createCorsPolicy({ model, services: { log } })!, lines };
}

test('CORS decisions are logged with debug on only', () => {
  for (const debug of [true, false]) {
    const { cors, lines } = createPolicy({ debug, allowed_origins: ['https://a.example'] });
    cors.addHeaders(callOf('GET', ['Origin', 'https://a.example']));
    cors.respondToOptions(callOf('OPTIONS', ['Origin', 'https://b.example', 'Access-Control-Request-Method', 'GET']));
    const logged = lines.map(({ api, origin, allowed, preflight }) => [api, origin, allowed, preflight]);
    const all = [
      ['one', 'https://a.example', true, false],
      ['one', 'https://b.example', false, true],
    ];
    assert.deepEqual(logged, debug ? all : []);
  }
});

test('a looped request keeps the CORS headers of its first API', () => {
  const call = callOf('GET', ['Origin', 'https://a.example']);
  createPolicy({ allowed_origins: ['https://a.example'] }).cors.addHeaders(call);
  const marked = [...call.extraResponseHeaders!];
  createPolicy({}).cors.addHeaders(call);
  assert.deepEqual(call.extraResponseHeaders, marked);
});
