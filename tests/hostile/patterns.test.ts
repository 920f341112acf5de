import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp } from '../support/app.ts';
import { openApi, publish, waitUntilApplied } from '../support/traffic.ts';
import { startUpstream } from '../support/upstream.ts';
import { type Ground, patternPlaces, type Written } from './pattern-places.ts';
import { hostilePatterns } from './patterns.ts';
import { call, statusesIn } from './raw.ts';

/** Every request gets a response with any pattern: forwarded, refused, or 503 for an API that is not served. */
const answers = [200, 400, 401, 403, 404, 503];

describe('Hostile regular expressions', () => {
  let ground: Ground;
  let port = 0;
  before(async () => {
    const [app, upstream] = await Promise.all([
      startApp('sqlite', { settings: { 'log.level': 'error' } }),
      startUpstream(),
    ]);
    ground = { app, upstream };
    port = Number(new URL(app.url.gateway).port);
  });
  after(async () => {
    await ground?.app.close();
    await ground?.upstream.close();
  });

  async function sendRequest({ path, method = 'GET', host = 'x', headers = {}, body = '' }: Written): Promise<number> {
    const lines = Object.entries({ host, connection: 'close', 'content-length': String(body.length), ...headers });
    const one = await call(port);
    one.send(
      `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
    );
    await one.closed;
    one.leave();
    return statusesIn(one.received())[0] ?? 0;
  }

  for (const place of patternPlaces)
    test(`${place.name}: refused when written, or answered without delaying other requests`, async () => {
      const ordinary = await publish(ground.app, openApi(ground.upstream));
      const written: (Written & { readonly what: string })[] = [];
      for (const [what, pattern] of Object.entries(hostilePatterns)) {
        const it = await place.write(ground, pattern);
        const { status, text } = it.answer;
        assert.ok(status === 200 || status === 400, `${what}: ${status} ${text.slice(0, 300)}`);
        // A refusal names the place and does not echo a pattern of any length.
        if (status === 400) assert.match(text, /[\w.[\]-]+: .{10,2000}"/, what);
        else written.push({ ...it, what });
      }
      await waitUntilApplied(ground.app);
      for (const it of written) {
        const [hostile, other] = await Promise.all([
          sendRequest(it),
          fetch(`${ordinary}/x`).then(({ status }) => status),
        ]);
        assert.ok(answers.includes(hostile), `${it.what}: ${hostile}`);
        assert.equal(other, 200, it.what);
      }
      assert.equal((await fetch(`${await publish(ground.app, openApi(ground.upstream))}/new`)).status, 200);
    });
});
