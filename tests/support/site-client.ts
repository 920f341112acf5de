import assert from 'node:assert/strict';
import type { TestApp } from './app.ts';
import { sitePassword } from './portal-site.ts';

/** A browser without script: keeps cookies, and sends forms with the token of the last page. */
export interface SiteClient {
  get(path: string): Promise<SitePageReply>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<SitePageReply>;
  signIn(email: string, password?: string): Promise<SitePageReply>;
}

export interface SitePageReply {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Target of a redirect; empty without one. */
  readonly location: string;
}

const decodeAttribute = (text: string) =>
  text.replaceAll('&#34;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');

export function createSiteClient(app: { readonly url: { readonly portal: string } }): SiteClient {
  const cookies = new Map<string, string>();
  let token = '';

  async function send(path: string, init: RequestInit = {}): Promise<SitePageReply> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { accept: 'text/html', ...(cookie && { cookie }) };
    const response = await fetch(app.url.portal + path, { redirect: 'manual', ...init, headers });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (/Max-Age=0\b/.test(set)) cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    token = decodeAttribute(/name="csrf_token" value="([^"]*)"/.exec(text)?.[1] ?? token);
    return {
      status: response.status,
      text,
      headers: response.headers,
      location: response.headers.get('location') ?? '',
    };
  }
  const post: SiteClient['post'] = (path, fields) =>
    send(path, { method: 'POST', body: new URLSearchParams({ csrf_token: token, ...fields }) });

  return {
    get: path => send(path),
    post,
    async signIn(email, password = sitePassword) {
      await send('/auth/password/login');
      const reply = await post('/auth/password/login', { login: email, password });
      if (reply.status === 303) await send('/');
      return reply;
    },
  };
}

/** A signed-in client. */
export async function signedInClient(app: TestApp, { Email }: { readonly Email: string }): Promise<SiteClient> {
  const client = createSiteClient(app);
  assert.equal((await client.signIn(Email)).status, 303);
  return client;
}
