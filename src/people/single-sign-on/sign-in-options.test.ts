import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, type TestApp } from '../../../tests/support/app.ts';
import { openBrowser } from '../../../tests/support/browser.ts';

const secret = `planted-options-${createPublicId()}`;
rememberSecrets({ secret });

const DiscoverURL = 'https://idp.example/.well-known/openid-configuration';
const oidc = (Name: string, more: object = {}) => ({
  Name,
  ProviderName: 'SocialProvider',
  ProviderConfig: { UseProviders: [{ Name: 'openid-connect', Key: 'client-of-idp', Secret: secret, DiscoverURL }] },
  ...more,
});
const ldap = (Name: string) => ({
  Name,
  ProviderName: 'ADProvider',
  ProviderConfig: { LDAPServer: 'ldap.example', LDAPPort: '636', LDAPUseSSL: true, LDAPUserDN: 'uid=*USERNAME*,dc=x' },
});

const read = async (app: TestApp, query = '') => {
  const { status, body, text } = await openBrowser(app).ask('GET', `/api/session/options${query}`);
  assert.equal(status, 200, text);
  return { body, text };
};

onEveryEngine(
  'Sign-in options',
  app => {
    const make = async (profile: object, credential?: string) => {
      const { status, body, text } = await app().ask('POST', '/api/sso/profiles', {
        body: profile,
        ...(credential && { credential }),
      });
      assert.equal(status, 200, text);
      return body.Meta as string;
    };

    test('active profiles are listed by name with their start URLs, to a visitor, without settings or secrets', async () => {
      assert.deepEqual((await read(app())).body, {
        password: true,
        passkey: true,
        password_reset_by_mail: false,
        password_rules: {
          min_length: 9,
          multi_case: true,
          min_numeric: 1,
          min_special: 2,
          disable_sequential: true,
          history: 3,
        },
        profiles: [],
      });
      const staff = await make(oidc('Staff'));
      await make(oidc('Off', { Active: false }));
      const directory = await make(ldap('Directory'));
      const { body, text } = await read(app());
      const base = 'https://dash.example.org/tib/auth';
      assert.deepEqual(body.profiles, [
        { id: directory, name: 'Directory', kind: 'ldap', start_url: `${base}/${directory}/ldap` },
        { id: staff, name: 'Staff', kind: 'openid-connect', start_url: `${base}/${staff}/openid-connect` },
      ]);
      assert.doesNotMatch(text, /idp\.example|client-of-idp|ldap\.example|planted/);
    });

    test('profiles of a tenant need its id, and an unknown id responds like an organisation without profiles', async () => {
      const [tenant, empty] = [await app().stranger(), await app().stranger()];
      const id = await make(oidc('Tenant'), tenant.accessKey);
      assert.ok(!(await read(app())).text.includes('Tenant'));
      const ids = (await read(app(), `?org_id=${tenant.orgId}`)).body.profiles.map((it: { id: string }) => it.id);
      assert.deepEqual(ids, [id]);
      const [known, unknown] = [await read(app(), `?org_id=${empty.orgId}`), await read(app(), '?org_id=unknown')];
      assert.equal(known.text, unknown.text);
      assert.deepEqual(unknown.body.profiles, []);
    });
  },
  {
    settings: {
      'dashboard.url': 'https://dash.example.org',
      'users.password_min_length': '9',
      'users.password_multi_case': 'true',
      'users.password_min_numeric': '1',
      'users.password_min_special': '2',
      'users.password_disable_sequential': 'true',
      'users.password_history': '3',
    },
  },
);
