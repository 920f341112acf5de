import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createOutboundClient } from '#base/http-client/client.ts';
import { createLog } from '#base/log.ts';
import { classicToModel } from '#definition/model.ts';
import { type Publisher, startPublisher } from '../../../tests/support/tokens.ts';
import { createUpstreamTokens } from './upstream-tokens.ts';

describe('OAuth tokens for upstreams', () => {
  const out = createOutboundClient();
  const log = createLog({ level: 'silent', format: 'json' });
  let server: Publisher;
  let nowMs = 0;
  before(async () => {
    server = await startPublisher();
  });
  after(async () => {
    await out.close();
    await server.close();
  });
  beforeEach(() => {
    nowMs = 1_000_000;
    server.asked = [];
    server.isUnavailable = false;
    let given = 0;
    server.pages = { '/token': () => ({ access_token: `token-${++given}`, expires_in: 3600 }) };
  });
  const tokens = () => {
    const client = {
      ...classicToModel({}).upstreamClientCredentials,
      clientId: 'gw',
      clientSecret: 's',
      tokenUrl: `${server.url}/token`,
    };
    return createUpstreamTokens(
      client,
      'client_credentials',
      { outbound: out, clock: { now: () => nowMs }, log },
      'api',
    );
  };

  test('an authorization server that fails is asked once a second, however many requests need a token', async () => {
    const { get } = tokens();
    server.isUnavailable = true;
    for (let n = 0; n < 10; n++) assert.equal(await get(), undefined);
    nowMs += 999;
    assert.equal(await get(), undefined);
    assert.equal(server.asked.length, 1);
    nowMs += 1;
    server.isUnavailable = false;
    assert.match((await get())!.value, /^Bearer token-/);
    assert.equal(server.asked.length, 2);
  });

  test('a token the upstream rejects is replaced once a second at most', async () => {
    const { get, invalidate } = tokens();
    assert.equal((await get())?.value, 'Bearer token-1');
    for (let n = 0; n < 10; n++) {
      invalidate();
      assert.equal((await get())?.value, 'Bearer token-1');
    }
    nowMs += 1000;
    invalidate();
    assert.equal((await get())?.value, 'Bearer token-2');
    invalidate();
    assert.equal((await get())?.value, 'Bearer token-2');
    assert.equal(server.asked.length, 2);
  });
});
