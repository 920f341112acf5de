import { createPublicId } from '#base/ids.ts';
import { hashPassword } from '#base/passwords.ts';
import { type Answer, lowPasswordCost, type TestApp } from './app.ts';

/** A browser of one user: keeps the session cookie and sends the CSRF token with writes, by default. */
export interface Browser {
  cookie: string;
  csrfToken: string;
  ask(method: string, path: string, asked?: { body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
  signIn(credentials: object): Promise<Answer>;
}

export function openBrowser(app: TestApp): Browser {
  const browser: Browser = {
    cookie: '',
    csrfToken: '',
    async ask(method, path, { body, headers = {} } = {}) {
      const own: Record<string, string> = { 'content-type': 'application/json', 'user-agent': 'browser of a test' };
      if (browser.cookie) own.cookie = browser.cookie;
      if (method !== 'GET' && browser.csrfToken) own['x-csrf-token'] = browser.csrfToken;
      const answer = await app.ask(method, path, { credential: null, body, headers: { ...own, ...headers } });
      const set = answer.headers.getSetCookie()[0];
      if (set !== undefined) browser.cookie = set.startsWith('authorisation=;') ? '' : set.split(';')[0]!;
      return answer;
    },
    async signIn(credentials) {
      const answer = await browser.ask('POST', '/api/session', { body: credentials });
      if (answer.status === 200) browser.csrfToken = answer.body.csrf_token;
      return answer;
    },
  };
  return browser;
}

export interface Person {
  readonly id: string;
  readonly orgId: string;
  readonly username: string;
  readonly password: string;
  readonly accessKey: string;
}

/** An active user with a password, in the organisation of the installation or another. */
export async function addPerson(app: TestApp, more: Record<string, unknown> = {}): Promise<Person> {
  const username = (more.email_address as string) ?? `p${createPublicId()}@example.org`;
  const write = { email_address: username, first_name: 'P', last_name: 'Q', active: true, ...more };
  const { body: made } = await app.ask('POST', '/admin/users', { body: write });
  const password = `Correct horse ${createPublicId()}`;
  const hash = await hashPassword(password, lowPasswordCost);
  const { users } = app.application.installation.services;
  await users.change({ id: made.Meta.id }, user => ({ ...user, password: hash, password_updated: user.created_at }));
  return { id: made.Meta.id, orgId: made.Meta.org_id, username, password, accessKey: made.Message };
}
