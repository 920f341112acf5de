import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { HeadParser } from '../../http/http1/head-parser.ts';
import { isWebSocketUpgrade } from './websocket-upgrade.ts';

function isUpgrade(...lines: readonly string[]): boolean {
  const parser = new HeadParser('request', { maxHeaderBytes: 8192, maxHeaders: 50 });
  const head = Buffer.from(`${lines.join('\r\n')}\r\nHost: x\r\n\r\n`);
  assert.equal(parser.parse(head, 0), head.length);
  return isWebSocketUpgrade(parser);
}

describe('WebSocket upgrade', () => {
  const [get, connection, upgrade] = ['GET / HTTP/1.1', 'Connection: keep-alive, Upgrade', 'Upgrade: WebSocket'];

  test('GET with Upgrade: websocket and the Upgrade token is an upgrade, in any case of letters', () => {
    assert.equal(isUpgrade(get, connection, upgrade), true);
    assert.equal(isUpgrade(get, 'connection: upgrade', 'upgrade: websocket'), true);
  });

  for (const [name, lines] of [
    ['no Upgrade header', [get, connection]],
    ['an empty Upgrade header', [get, connection, 'Upgrade:']],
    ['another protocol', [get, connection, 'Upgrade: h2c']],
    ['several protocols', [get, connection, 'Upgrade: websocket, h2c']],
    ['no Upgrade token in Connection', [get, 'Connection: keep-alive', upgrade]],
    ['another method', ['POST / HTTP/1.1', connection, upgrade]],
    ['HTTP/1.0', ['GET / HTTP/1.0', connection, upgrade]],
    ['a Content-Length', [get, connection, upgrade, 'Content-Length: 1']],
    ['a Content-Length of 0', [get, connection, upgrade, 'Content-Length: 0']],
    ['the chunked coding', [get, connection, upgrade, 'Transfer-Encoding: chunked']],
  ] as const)
    test(`a request with ${name} is none`, () => assert.equal(isUpgrade(...lines), false));
});
