import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Problem } from '#base/problems.ts';
import { startApp, type TestApp } from '../../tests/support/app.ts';
import { addPerson, openBrowser } from '../../tests/support/browser.ts';
import { runChild } from '../../tests/support/gw-process.ts';
import { runUsersCommand } from './users-command.ts';

describe('gw users', () => {
  let app: TestApp;
  before(async () => {
    app = await startApp('sqlite', { settings: { 'dashboard.url': 'https://gw.example.org' } });
  });
  after(() => app?.close());

  const fromDirectory = () => ({ GW_DATA_DIR: app.directory });
  async function users(args: string, environment: Record<string, string> = fromDirectory()): Promise<string> {
    let printed = '';
    const print = (text: string) => {
      printed += text;
    };
    await runUsersCommand(args.split(' '), { environment, print });
    return printed;
  }
  async function expectError(args: string, message: RegExp, environment?: Record<string, string>): Promise<void> {
    await assert.rejects(users(args, environment), (error: unknown) => {
      assert.ok(error instanceof Problem, String(error));
      assert.match(error.message, message);
      return true;
    });
  }

  test('reset prints a link that sets a new password once, for a user named by address or id', async () => {
    const { username, id } = await addPerson(app);
    for (const [index, named] of [username.toUpperCase(), id].entries()) {
      const printed = await users(`reset ${named}`);
      const [, link, token] =
        /^ {2}(https:\/\/gw\.example\.org\/login\/reset\?token=([\w-]{43}))$/m.exec(printed) ?? [];
      assert.ok(link, printed);
      assert.match(printed, /sets a new password with this link, once, until \d{4}-\d\d-\d\dT/);
      const password = `A new password ${index}`;
      const body = { token, new_password: password };
      const headers = { 'content-type': 'application/json' };
      assert.equal((await app.ask('POST', '/api/session/reset', { body, headers, credential: null })).status, 200);
      assert.equal((await openBrowser(app).signIn({ username, password })).status, 200);
    }
  });

  test('-o json prints link, token and expiry', async () => {
    const { username } = await addPerson(app);
    const { link, token, expires_at } = JSON.parse(await users(`reset ${username} -o json`));
    assert.equal(link, `https://gw.example.org/login/reset?token=${token}`);
    assert.ok(Date.parse(expires_at) > Date.now());
  });

  test('an address with accounts in several organisations needs --org', async () => {
    const { username } = await addPerson(app);
    const { orgId } = await app.stranger();
    await addPerson(app, { email_address: username, org_id: orgId });
    await expectError(`reset ${username}`, /several organisations/);
    assert.match(await users(`reset ${username} --org ${orgId}`), /token=/);
    await expectError(`reset ${username} --org none`, /^User not found$/);
  });

  test('wrong usage, an unknown user and a wrong secret each fail with one sentence', async () => {
    const { username, id } = await addPerson(app, { active: false });
    await expectError(`reset ${id}`, /inactive/);
    await expectError('reset none@example.org', /^User not found$/);
    await expectError('reset none', /^User not found$/);
    await expectError('reset', /^reset takes one e-mail address or id \(see gw users --help\)$/);
    await expectError(`reset ${username} ${id}`, /^reset takes one/);
    await expectError('list', /^gw users has no action list: it has reset$/);
    await expectError(`reset ${id} -o xml`, /^-o takes json/);
    await expectError(`reset ${id} --colour`, /^Unknown option '--colour'/);
    const GW_URL = app.url.dashboard;
    await expectError(`reset ${id}`, /^The admin secret is missing: set GW_ADMIN_SECRET/, {
      GW_URL,
      GW_DATA_DIR: '/none',
    });
    await expectError(`reset ${id}`, /rejects the secret: set GW_ADMIN_SECRET/, { GW_URL, GW_ADMIN_SECRET: 'wrong' });
    await expectError(`reset ${id} --url ${app.url.gateway} --secret x`, /is not the admin interface of a gateway/);
    // Another machine's address never gets the secret of this one.
    await expectError(`reset ${id} --url http://192.0.2.1:3000`, /^The admin secret is missing/);
  });

  test('gw users is a command of gw', async () => {
    const { id } = await addPerson(app);
    const environment = { GW_URL: app.url.dashboard, GW_ADMIN_SECRET: app.credentials.admin_secret };
    const reset = await runChild(['users', 'reset', id], { directory: app.directory, environment });
    assert.equal(reset.code, 0, reset.err);
    assert.match(reset.out, /\/login\/reset\?token=/);
    const help = await runChild(['users', '--help'], { directory: app.directory });
    assert.match(help.out, /^gw users: .*gw users reset/s);
  });
});
