import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { computeTotp, createRecoveryCodeSet, createTotpSecret, toTotpStep } from '#base/totp.ts';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { addAccessRequest, requestPortal } from '../../../../tests/support/portal.ts';
import { addSiteDeveloper, sitePassword } from '../../../../tests/support/portal-site.ts';
import { toSessionOwner } from '../../users/session-owner.ts';

const login = '/auth/password/login';

/** Members of the replies. */
interface ScriptReply {
  readonly CSRFToken?: string;
  readonly Title: string;
  readonly Location: string;
  readonly CredentialID: number;
  readonly Key: string;
  readonly Email: string;
  readonly Message: string;
  readonly Step: string;
  readonly Token: string;
  readonly Secret: string;
  readonly Address: string;
  readonly RecoveryCodes: readonly string[];
  readonly errors: readonly string[];
}

onEveryEngine('JSON twins of forms', app => {
  /** A script: keeps cookies, and sends JSON with the token that it read. */
  function createScript() {
    const cookies = new Map<string, string>();
    let token = '';
    async function call(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const type = body === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { accept: 'application/json', cookie, 'x-csrf-token': token, ...type, ...more };
      const response = await fetch(app().url.portal + path, { method, headers, redirect: 'manual', ...sent });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      const reply = { status: response.status, body: (await response.json()) as ScriptReply };
      token = reply.body.CSRFToken ?? token;
      return reply;
    }
    return {
      read: (path: string) => call('GET', path),
      send: (path: string, body: unknown, more?: Record<string, string>) => call('POST', path, body, more),
      has: (cookie: string) => cookies.has(cookie),
    };
  }
  const aScript = async () => {
    const script = createScript();
    const { status, body } = await script.read(login);
    assert.deepEqual([status, body.Title, typeof body.CSRFToken], [200, 'Sign in', 'string']);
    return script;
  };

  test('a script signs in: errors and the page to continue at are JSON, and the session is a cookie', async () => {
    const user = await addSiteDeveloper(app());
    const script = await aScript();
    const wrong = await script.send(login, { login: user.Email, password: 'wrong' });
    assert.equal(wrong.status, 401);
    assert.match(wrong.body.errors[0]!, /address or the password is wrong/);
    const next = '/portal/private/apps';
    const signedIn = await script.send(login, { login: user.Email, password: sitePassword, next });
    assert.deepEqual([signedIn.status, signedIn.body], [200, { Location: next }]);
    assert.ok(script.has('portal-session'));
    assert.equal((await script.read('/portal/private/api/me')).body.Email, user.Email);
  });

  test('refused forms of a team reply with their errors', async () => {
    const Name = `org-${createPublicId()}`;
    const { ID: OrganisationID } = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name });
    const admin = await addSiteDeveloper(app(), { OrganisationID, Role: 'consumer-admin' });
    const script = await aScript();
    await script.send(login, { login: admin.Email, password: sitePassword });
    await script.read('/portal/private/api/me');
    const member = await script.send(`/portal/private/users/${admin.ID}`, { role: 'king' });
    assert.deepEqual([member.status, member.body.errors], [422, ['Choose a role.']]);
    const invited = await script.send('/portal/private/users/invite', {
      email: 'a@example.org',
      role: 'consumer-admin',
    });
    assert.equal(invited.status, 422);
    assert.match(invited.body.errors[0]!, /no mail server/);
  });

  test('an account with an authenticator app gets the token of the second step', async () => {
    const user = await addSiteDeveloper(app());
    const { portal, clock } = app().application.installation.services;
    const owner = { id: toSessionOwner(user.ID), org_id: '' };
    const codes = createRecoveryCodeSet();
    await portal.factors.activateTotp(owner, createTotpSecret(), toTotpStep(clock.now()), codes, clock.now());
    const script = await aScript();
    const { body } = await script.send(login, { login: user.Email, password: sitePassword });
    assert.equal(body.Step, 'code');
    const wrong = await script.send('/auth/password/code', { token: body.Token, otp: '000000' });
    assert.deepEqual([wrong.status, wrong.body.errors.length], [401, 1]);
    const right = await script.send('/auth/password/code', { token: body.Token, otp: codes[0] });
    assert.deepEqual([right.status, right.body], [200, { Location: '/' }]);
  });

  test('a form without the token of the visitor, of another site or of another type is refused in JSON', async () => {
    const user = await addSiteDeveloper(app());
    const script = await aScript();
    const given = { login: user.Email, password: sitePassword };
    const headers = [
      ['x-csrf-token', ''],
      ['x-csrf-token', 'guess'],
      ['sec-fetch-site', 'cross-site'],
    ] as const;
    for (const [name, value] of headers) {
      const { status, body } = await script.send(login, given, { [name]: value });
      assert.deepEqual([status, body.errors.length], [403, 1], `${name}: ${value}`);
    }
    for (const body of [[given], 'text', { login: { a: 1 } }, null])
      assert.equal((await script.send(login, body)).status, 415, JSON.stringify(body));
    assert.ok(!script.has('portal-session'));
  });

  test('links that do not work, and a reset without a mail server, have their texts', async () => {
    const script = await aScript();
    const dead = await script.send('/auth/password/update', { reset_password_token: 'x' });
    assert.equal(dead.status, 410);
    assert.match(dead.body.errors[0]!, /was used already/);
    const reset = await script.send('/auth/password/new', { email: 'a@example.org' });
    assert.equal(reset.body.Message, 'No mail can be sent');
    const unknown = await script.send('/auth/password/register', {});
    assert.deepEqual([unknown.status, unknown.body], [404, { errors: ['Page not found'] }]);
  });

  test('writes of private pages reply with the address of the result or with errors by field', async () => {
    const user = await addSiteDeveloper(app());
    const script = await aScript();
    const path = '/portal/private/apps';
    const given = { client_name: 'By script', visibility: 'personal' };
    assert.deepEqual(await script.send(path, given), { status: 401, body: { errors: ['Sign in first'] } });
    await script.send(login, { login: user.Email, password: sitePassword });
    await script.read('/portal/private/api/me');
    const refused = await script.send(path, { ...given, client_name: '' });
    assert.equal(refused.status, 422);
    assert.match(refused.body.errors[0]!, /^client_name: /);
    const created = await script.send(path, given);
    assert.equal(created.status, 200);
    assert.match(created.body.Location, /^\/portal\/private\/apps\/\d+$/);
    const profile = await script.send('/portal/private/profile', { first: '', last: 'x' });
    assert.match(profile.body.errors[0]!, /^first: /);
  });

  test('a script that adds an authenticator app gets the key, then the recovery codes', async () => {
    const user = await addSiteDeveloper(app());
    const script = await aScript();
    await script.send(login, { login: user.Email, password: sitePassword });
    await script.read('/portal/private/api/me');
    const factor = '/portal/private/profile/second-factor';
    const refused = await script.send(factor, { password: 'wrong' });
    assert.deepEqual([refused.status, refused.body.errors.length], [422, 1]);
    assert.match(refused.body.errors[0]!, /password or the code is wrong/);
    const { body } = await script.send(factor, { password: sitePassword });
    assert.ok(body.Address.includes(`secret=${body.Secret}`), body.Address);
    const { clock } = app().application.installation.services;
    const otp = computeTotp(body.Secret, toTotpStep(clock.now()));
    const confirmed = await script.send(`${factor}/confirm`, { otp });
    assert.ok(confirmed.body.RecoveryCodes.length > 1, JSON.stringify(confirmed));
  });

  test('a script that rotates a key gets the new one, which a browser is redirected to', async () => {
    const user = await addSiteDeveloper(app());
    const { app: own, requestId } = await addAccessRequest(app(), { app: { UserID: user.ID } });
    const credentials = `/portal-api/apps/${own.ID}/access-requests/${requestId}/credentials`;
    const [credential] = await requestPortal(app(), 'GET', credentials);
    const script = await aScript();
    await script.send(login, { login: user.Email, password: sitePassword });
    await script.read('/portal/private/api/me');
    const given = { mode: 'roll', client_id: own.ID, cred_id: credential.ID };
    const { status, body } = await script.send('/portal/private/credentials', given);
    assert.deepEqual([status, body.CredentialID, typeof body.Key], [200, credential.ID, 'string']);
    assert.notEqual(body.Key, credential.Credential);
  });

  test('a browser gets pages and redirects as before', async () => {
    const headers = { accept: 'text/html,application/json;q=0.9' };
    const page = await fetch(app().url.portal + login, { headers });
    assert.match(page.headers.get('content-type')!, /^text\/html/);
    await page.body?.cancel();
  });
});
