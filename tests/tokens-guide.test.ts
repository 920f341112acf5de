import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { policyFor, signer, tokenOf } from './support/oauth2.ts';
import { jwkOf, type Publisher, startPublisher } from './support/tokens.ts';
import { waitUntilApplied } from './support/traffic.ts';
import { startUpstream, type Upstream } from './support/upstream.ts';

/** Runs the definition of the guide. */
const guide = readFileSync(new URL('../docs/guide/tokens.md', import.meta.url), 'utf8');
const [, shown] = /```json\n(.*?)```/s.exec(guide)!;

let app: TestApp;
let upstream: Upstream;
let login: Publisher;
before(async () => {
  [upstream, login] = await Promise.all([startUpstream(), startPublisher()]);
  app = await startApp('sqlite', { settings: { 'secrets.values': JSON.stringify({ login: 'word' }) } });
});
after(async () => {
  await app?.close();
  await Promise.all([upstream.close(), login.close()]);
});

test('the definition of the guide checks scopes, serves resource metadata and exchanges tokens', async () => {
  login.pages = { '/jwks': { keys: [jwkOf(signer.publicKey)] }, '/token': { access_token: 'new', expires_in: 300 } };
  const text = shown!
    .replaceAll('https://login.example/', `${login.url}/`)
    .replace('http://127.0.0.1:9000', upstream.url)
    .replace('"callers"', JSON.stringify(await policyFor(app, 'orders')));
  const { status, text: reply } = await app.ask('POST', '/gw/apis/oas', { body: JSON.parse(text) });
  assert.equal(status, 200, reply);
  await waitUntilApplied(app);
  const call = (path: string, scope: string) =>
    fetch(`${app.url.gateway}/orders-api${path}`, {
      headers: { authorization: `Bearer ${tokenOf({ scope, iss: 'https://login.example' })}` },
    });
  const refused = await call('/orders', '');
  assert.ok(guide.includes(`    ${await refused.text()}\n`), 'the refusal is in the guide');
  assert.equal(refused.status, 403);
  assert.equal((await call('/status', '')).status, 200);
  assert.equal((await call('/orders', 'orders orders:read')).status, 200);
  assert.equal(upstream.requests.at(-1)!.headers.authorization, 'Bearer new');
  const metadata = await fetch(`${app.url.gateway}/orders-api/.well-known/oauth-protected-resource`);
  const printed = guide.replaceAll(/\n {5}/g, '');
  assert.ok(printed.includes(await metadata.text()), 'the metadata is in the guide');
});
