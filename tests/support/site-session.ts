import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';

/** Signs in by the form of the site, without a browser; returns the session cookie. */
export async function signInToSite(app: TestApp, user: { Email: string; Password: string }): Promise<string> {
  const url = `${app.url.portal}/auth/password/login`;
  const form = await fetch(url);
  const [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await form.text()) ?? [];
  const cookie = form.headers
    .getSetCookie()
    .map(it => it.split(';')[0])
    .join('; ');
  const body = new URLSearchParams({ login: user.Email, password: user.Password, csrf_token });
  const response = await fetch(url, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  assert.equal(response.status, 303, await response.text());
  const session = response.headers.getSetCookie().find(it => it.startsWith('portal-session='));
  assert.ok(session);
  return session.split(';')[0]!;
}
