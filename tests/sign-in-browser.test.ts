import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from './support/app.ts';
import { addPerson, openBrowser } from './support/browser.ts';
import { testChromium } from './support/chromium.ts';

/** What a person does to sign in, in Chromium. */

describe('Sign-in in a browser', () => {
  const chromium = testChromium();
  /** Stands for the dashboard, whose origin has to be known before the product starts. */
  const site = createServer((_request, response) =>
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Site</title><link rel="icon" href="data:,">'),
  );
  let origin = '';
  let app: TestApp;
  before(async () => {
    await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
    origin = `http://localhost:${(site.address() as AddressInfo).port}`;
    app = await startApp('sqlite', { settings: { 'dashboard.url': origin } });
  });
  after(async () => {
    await app?.close();
    site.closeAllConnections();
    await new Promise(resolve => site.close(resolve));
  });

  test('the page behind a reset link sets a password', async () => {
    const { id, username } = await addPerson(app);
    const { token } = (await app.ask('POST', '/admin/users/actions/reset-link', { body: { user_id: id } })).body.Meta;
    const { page, errors } = await chromium.open(`${app.url.dashboard}/login/reset?token=${token}`);
    const submit = async (password: string, repeated = password) => {
      await page.getByLabel('New password', { exact: true }).fill(password);
      await page.getByLabel('New password again').fill(repeated);
      await page.getByRole('button', { name: 'Set password' }).click();
    };
    await submit('Correct Horse 9', 'Correct Horse 8');
    await page.getByRole('alert').getByText('The two passwords differ').waitFor();
    assert.equal(new URL(page.url()).search, '', 'the token has left the address');
    await submit('Correct Horse 9');
    await page.getByRole('heading', { name: 'The new password is set' }).waitFor();
    assert.equal((await openBrowser(app).signIn({ username, password: 'Correct Horse 9' })).status, 200);
    await page.goto(`${app.url.dashboard}/login/reset?token=${token}`);
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    const other = errors.filter(it => !/status of 400/.test(it));
    assert.deepEqual(other, []);
  });

  test('a passkey of the browser is added and signs in', async () => {
    const person = await addPerson(app);
    const session = openBrowser(app);
    await session.signIn({ username: person.username, password: person.password });
    const { page } = await chromium.open(origin);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('WebAuthn.enable');
    const authenticator = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    await devtools.send('WebAuthn.addVirtualAuthenticator', { options: authenticator });
    const run = (method: 'create' | 'get', parse: string, options: unknown) =>
      page.evaluate(
        `navigator.credentials.${method}({ publicKey: PublicKeyCredential.${parse}(${JSON.stringify(options)}) })` +
          '.then(credential => credential.toJSON())',
      );

    const { password } = person;
    const started = await session.ask('POST', '/api/session/passkeys/challenge', { body: { password } });
    const created = await run('create', 'parseCreationOptionsFromJSON', started.body.publicKey);
    const added = await session.ask('POST', '/api/session/passkeys', { body: { name: 'Laptop', credential: created } });
    assert.equal(added.status, 200, added.text);

    for (let index = 0; index < 2; index++) {
      const visitor = openBrowser(app);
      const { body } = await visitor.ask('POST', '/api/session/passkey/challenge', { body: {} });
      const credential = await run('get', 'parseRequestOptionsFromJSON', body.publicKey);
      const answer = await visitor.ask('POST', '/api/session/passkey', { body: { credential } });
      assert.equal(answer.status, 200, answer.text);
      assert.equal(answer.body.user.id, person.id);
      assert.equal((await visitor.ask('POST', '/api/session/passkey', { body: { credential } })).status, 400);
    }
  });
});
