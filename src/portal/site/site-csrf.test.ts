import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startApp, type TestApp } from '../../../tests/support/app.ts';
import { addSiteDeveloper, type Developer } from '../../../tests/support/portal-site.ts';
import { signInToSite } from '../../../tests/support/site-session.ts';
import { sitePages } from './pages/list.ts';

/** Forms of the site with a value for each parameter of their paths. */
const forms = sitePages
  .filter(({ method }) => method === 'POST')
  .map(page => ({ ...page, url: page.path.replaceAll(/:\w+/g, '1') }));
/** Forms that prove themselves by a mailed token, or by the signature of an identity provider. */
const proven = forms.filter(it => it.hasLinkToken || it.isPostedAcrossSites);

describe('Cross-site request forgery', () => {
  let app: TestApp;
  let user: Developer;
  let cookie: string;
  let csrf_token: string;
  before(async () => {
    app = await startApp('sqlite');
    user = await addSiteDeveloper(app);
    cookie = await signInToSite(app, user);
    const page = await fetch(`${app.url.portal}/portal/private/profile`, { headers: { cookie } });
    [, csrf_token = ''] = /name="csrf_token" value="([^"]+)"/.exec(await page.text()) ?? [];
    assert.notEqual(csrf_token, '');
  });
  after(() => app?.close());

  const post = async (url: string, fields: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams({ login: user.Email, email: user.Email, ...fields });
    const init = { method: 'POST', body, redirect: 'manual', headers: { cookie, ...headers } } as const;
    return (await fetch(app.url.portal + url, init)).status;
  };

  test('every form of a signed-in visitor is refused without its token, and from another site with it', async () => {
    assert.ok(forms.length > 30, String(forms.length));
    const wrong: string[] = [];
    for (const { url } of forms.filter(it => !proven.includes(it)))
      for (const [fields, headers] of [
        [{}, {}],
        [{ csrf_token: 'x'.repeat(43) }, {}],
        [{ csrf_token }, { 'sec-fetch-site': 'cross-site' }],
        [{ csrf_token }, { 'sec-fetch-site': 'same-site' }],
      ] as const) {
        const status = await post(url, fields, headers);
        if (status !== 403) wrong.push(`${url} ${JSON.stringify(headers)}: ${status}`);
      }
    assert.deepEqual(wrong, []);
    assert.ok((await post('/portal/private/profile', { first: 'Own', last: 'Form', csrf_token })) < 400);
  });

  test('forms without the token of the visitor are those of mailed links and identity providers alone', () => {
    assert.deepEqual(proven.map(({ path }) => path).sort(), [
      '/auth/address',
      '/auth/invitation',
      '/auth/password/update',
      '/auth/verify',
      '/tib/auth/:profile/:provider/callback',
    ]);
  });
});
