import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, rememberSecrets, type TestApp } from '../../../../tests/support/app.ts';
import { addPerson } from '../../../../tests/support/browser.ts';
import { dashboardUrl, openSignedOnBrowser } from '../../../../tests/support/oidc.ts';
import {
  type DirectoryUser,
  directoryAdmin,
  directoryBase,
  type Slapd,
  startSlapd,
} from '../../../../tests/support/services/slapd.ts';

const password = `directory-password-${createPublicId()}`;
rememberSecrets({ password, admin: directoryAdmin.password });

const user = (uid: string, more: Partial<DirectoryUser> = {}): DirectoryUser => ({
  uid,
  password,
  mail: `${uid}@example.org`,
  ...more,
});
const users = [
  user('ann', { groups: ['devs', 'cn=API owners,ou=groups'] }),
  user('bob'),
  user('eve, x', { mail: 'eve@example.org' }),
  user('no-mail', { mail: '' }),
];

let slapd: Slapd;
before(async () => {
  slapd = await startSlapd(users);
});
after(() => slapd?.stop());

const people = `ou=people,${directoryBase}`;
const byName = { LDAPUserDN: `uid=*USERNAME*,${people}` };
const bySearch = {
  LDAPAdminUser: directoryAdmin.name,
  LDAPAdminPassword: directoryAdmin.password,
  LDAPBaseDN: directoryBase,
  LDAPFilter: '(&(objectClass=inetOrgPerson)(uid=*USERNAME*))',
};

async function createProfile(app: TestApp, config: object, more: object = {}): Promise<string> {
  const ProviderConfig = { LDAPServer: '127.0.0.1', LDAPPort: String(slapd.port), ...config };
  const body = {
    Name: 'Directory',
    ProviderName: 'ADProvider',
    ProviderConfig,
    CustomUserGroupField: 'departmentNumber',
    ...more,
  };
  const made = await app.ask('POST', '/api/sso/profiles', { body });
  assert.equal(made.status, 200, made.text);
  return `${app.url.dashboard}/tib/auth/${made.body.Meta}/ldap`;
}

const bindRefusal = Buffer.from([0x30, 0x0c, 2, 1, 2, 0x61, 7, 10, 1, 49, 4, 0, 4, 0]);

const send = (login: string, username: string, secret = password, headers: Record<string, string> = {}) =>
  fetch(login, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ username, password: secret }),
    headers,
  });

onEveryEngine(
  'Single sign-on with LDAP',
  app => {
    const createGroup = async (user_permissions: Record<string, string>) =>
      (await app().ask('POST', '/api/usergroups', { body: { name: 'g', user_permissions } })).body.Meta as string;

    async function signOn(login: string, username: string) {
      const response = await send(login, username);
      assert.equal(response.status, 303, await response.text());
      const [, token] = /^authorisation=([^;]+)/.exec(response.headers.getSetCookie()[0]!)!;
      return openSignedOnBrowser(app(), new Map([[app().url.dashboard, new Map([['authorisation', token!]])]]));
    }

    test('a user signs on by name or by search, with the permissions of the mapped groups', async () => {
      const group = await createGroup({ apis: 'read' });
      const owners = await createGroup({ keys: 'write' });
      const mapping = { UserGroupMapping: { devs: group, 'cn=API owners,ou=groups': owners } };
      for (const config of [byName, bySearch]) {
        const login = await createProfile(app(), config, mapping);
        const { session } = await signOn(login, 'ann');
        assert.deepEqual([session.user.email_address, session.user.first_name], ['ann@example.org', 'Ann Example']);
        assert.deepEqual(session.permissions, { apis: 'read', keys: 'write' });
        assert.deepEqual((await signOn(login, 'bob')).session.permissions, {});
      }
    });

    test('a test of the form shows attributes and permissions, and opens no session', async () => {
      const group = await createGroup({ apis: 'read' });
      const login = await createProfile(app(), byName, { UserGroupMapping: { devs: group } });
      const [, profileId] = /auth\/([^/]+)\/ldap$/.exec(login)!;
      const { body } = await app().ask('POST', `/api/sso/profiles/${profileId}/test`);
      const tested = `${login}${new URL(body.test_url).search}`;
      const response = await send(tested, 'ann');
      assert.deepEqual([response.status, response.headers.getSetCookie()], [200, []]);
      const text = await response.text();
      assert.match(text, /ann@example\.org signs on without an account/);
      assert.match(text, /<li>apis: read<\/li>/);
      assert.equal((await send(tested, 'ann', 'wrong')).status, 401);
      assert.equal((await send(`${login}?test=1`, 'ann')).status, 403);
    });

    test('a wrong name, a wrong password and an empty password are refused alike', async () => {
      for (const config of [byName, bySearch]) {
        const login = await createProfile(app(), config);
        for (const [name, secret] of [
          ['ann', 'wrong'],
          ['unknown', password],
          ['ann', ''],
          ['', password],
          ['  ', password],
          ['ann\u0000', password],
        ] as const) {
          const response = await send(login, name, secret);
          assert.equal(response.status, 401, `${name}:${secret}`);
          assert.match(await response.text(), /Wrong user name or password/);
          assert.deepEqual(response.headers.getSetCookie(), []);
        }
      }
    });

    test('a name cannot change the filter or the distinguished name', async () => {
      for (const config of [byName, bySearch, { ...bySearch, LDAPFilter: '(|(uid=*USERNAME*)(mail=*USERNAME*))' }]) {
        const login = await createProfile(app(), config);
        for (const name of [
          '*',
          'a*',
          'ann)(objectClass=*',
          '*)(uid=*',
          'ann)(&',
          '\\2a',
          'x)(|(uid=ann',
          `ann,${people}`,
          'bob+uid=ann',
          '#616e6e',
          '*USERNAME*',
        ])
          assert.equal((await send(login, name)).status, 401, name);
      }
      for (const config of [byName, bySearch])
        assert.equal(
          (await signOn(await createProfile(app(), config), 'eve, x')).session.user.email_address,
          'eve@example.org',
        );
    });

    test('a search that finds several users, or a user without an e-mail address, is refused', async () => {
      const several = await createProfile(app(), {
        ...bySearch,
        LDAPFilter: '(|(uid=*USERNAME*)(objectClass=inetOrgPerson))',
      });
      assert.equal((await send(several, 'ann')).status, 502);
      const login = await createProfile(app(), bySearch);
      const response = await send(login, 'no-mail');
      assert.equal(response.status, 403);
      assert.match(await response.text(), /no usable e-mail address/);
    });

    test('LDAPS and StartTLS verify the certificate of the directory', async () => {
      const LDAPCACertificate = slapd.ca;
      const secured = [
        { LDAPPort: String(slapd.tlsPort), LDAPUseSSL: true },
        { LDAPPort: String(slapd.port), LDAPStartTLS: true },
      ];
      for (const config of secured) {
        await signOn(await createProfile(app(), { ...bySearch, ...config, LDAPCACertificate }), 'ann');
        const untrusted = await createProfile(app(), { ...bySearch, ...config });
        assert.equal((await send(untrusted, 'ann')).status, 502);
      }
    });

    test('only registered users: the address of an account of the organisation signs on to it', async () => {
      const { orgId } = await app().stranger();
      await addPerson(app(), { email_address: 'bob@example.org', org_id: orgId });
      const person = await addPerson(app(), { email_address: 'ann@example.org', user_permissions: { apis: 'read' } });
      const login = await createProfile(app(), byName, { SSOOnlyForRegisteredUsers: true });
      const { session } = await signOn(login, 'ANN');
      assert.deepEqual([session.user.id, session.permissions], [person.id, { apis: 'read' }]);
      assert.equal((await send(login, 'bob')).status, 403);
    });

    test('a form of another site is refused, and one of the dashboard accepted', async () => {
      const login = await createProfile(app(), byName);
      for (const headers of [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: dashboardUrl, 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ] as Record<string, string>[])
        assert.equal((await send(login, 'ann', password, headers)).status, 403, JSON.stringify(headers));
      for (const origin of [dashboardUrl, app().url.dashboard])
        assert.equal((await send(login, 'ann', password, { origin, 'sec-fetch-site': 'same-origin' })).status, 303);
    });

    test('the login URL shows a form without script, and JSON is accepted too', async () => {
      const login = await createProfile(app(), byName, { Name: '<b>Directory' });
      const page = await fetch(login);
      assert.match(page.headers.get('content-security-policy')!, /default-src 'none'/);
      assert.match(await page.text(), /&lt;b&gt;Directory[\s\S]*name="username"[\s\S]*name="password"/);
      const sendJson = (body: string) =>
        fetch(`${login}?next=/keys`, {
          method: 'POST',
          redirect: 'manual',
          body,
          headers: { 'content-type': 'application/json' },
        });
      const response = await sendJson(JSON.stringify({ username: 'ann', password }));
      assert.deepEqual([response.status, response.headers.get('location')], [303, '/keys']);
      for (const body of ['{', '[]', '{}', JSON.stringify({ username: 'ann', password: [password] })])
        assert.equal((await sendJson(body)).status, 400, body);
      const twice = `username=ann&password=x&password=${password}`;
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      assert.equal((await fetch(login, { method: 'POST', body: twice, headers })).status, 400);
      assert.equal((await fetch(login, { method: 'POST', body: 'x'.repeat(10_000), headers })).status, 413);
    });

    test('a profile that would send passwords in clear text, or cannot work, is refused', async () => {
      const refused: [object, RegExp][] = [
        [{ ...byName, LDAPServer: 'ldap.example' }, /LDAPUseSSL: is required, or LDAPStartTLS/],
        [{ ...byName, LDAPServer: '127.0.0.1.evil.example' }, /LDAPUseSSL: is required/],
        [{ ...byName, LDAPUseSSL: true, LDAPStartTLS: true }, /LDAPStartTLS: cannot be set with LDAPUseSSL/],
        [{ ...byName, LDAPPort: '0' }, /LDAPPort: must be a port/],
        [{ LDAPUserDN: 'uid=ann,dc=example' }, /LDAPUserDN: must contain \*USERNAME\*/],
        [{}, /LDAPUserDN: is required, or LDAPAdminUser/],
        [{ ...bySearch, LDAPAdminPassword: '' }, /LDAPAdminPassword: is required with LDAPAdminUser/],
        [{ ...bySearch, LDAPFilter: '(uid=ann)' }, /LDAPFilter: must be a filter such as/],
        [{ ...bySearch, LDAPFilter: '(uid=*USERNAME*' }, /LDAPFilter: must be a filter such as/],
        [{ ...byName, LDAPBaseDN: 'dc=x' }, /LDAPBaseDN: has no effect/],
        [{ ...byName, LDAPEmailAttribute: 'a b' }, /must be the name of an attribute/],
      ];
      for (const [config, message] of refused) {
        const ProviderConfig = { LDAPServer: '127.0.0.1', LDAPPort: '389', ...config };
        const answer = await app().ask('POST', '/api/sso/profiles', {
          body: { Name: 'D', ProviderName: 'ADProvider', ProviderConfig },
        });
        assert.equal(answer.status, 400, JSON.stringify(config));
        assert.match(answer.body.Message, message);
      }
    });

    test('a directory outside the networks of the organisation is not connected to', async () => {
      const { orgId, accessKey } = await app().stranger();
      await app().ask('PUT', `/admin/organisations/${orgId}/grants`, { body: { networks: ['public'] } });
      const ProviderConfig = { LDAPServer: '127.0.0.1', LDAPPort: String(slapd.port), ...byName };
      const body = { Name: 'D', ProviderName: 'ADProvider', ProviderConfig };
      const { body: made } = await app().ask('POST', '/api/sso/profiles', { body, credential: accessKey });
      assert.equal((await send(`${app().url.dashboard}/tib/auth/${made.Meta}/ldap`, 'ann')).status, 502);
    });

    test('a directory that responds with garbage, too much, or the end of the connection is unavailable', async () => {
      const replies: Record<string, (socket: Socket) => void> = {
        garbage: socket => void socket.write(`HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(200)}`),
        'an indefinite length': socket => void socket.write(Buffer.from([0x30, 0x80, 0x00, 0x00])),
        'a huge length': socket => {
          socket.write(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]));
          for (let index = 0; index < 20; index++) socket.write(Buffer.alloc(65_536));
        },
        'a response to another request': socket =>
          void socket.write(Buffer.from([0x30, 0x0c, 2, 1, 99, 0x61, 7, 10, 1, 0, 4, 0, 4, 0])),
        'the end of the connection': socket => void socket.end(),
      };
      for (const [about, reply] of Object.entries(replies)) {
        const server = createServer(socket => {
          socket.on('error', () => undefined).once('data', () => reply(socket));
        }).listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const login = await createProfile(app(), { ...byName, LDAPPort: String(port) });
        assert.equal((await send(login, 'ann')).status, 502, about);
        server.close();
      }
    });

    test('many failures of one account do not hide those of another account in the audit log', async () => {
      const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const login = await createProfile(app(), { ...byName, LDAPPort: String((server.address() as AddressInfo).port) });
      const { records } = app().application.installation;
      const countAudited = async () => {
        const rows = await records.db.selectFrom('audit').select('body').where('action', '=', 'signOn').execute();
        return rows.filter(({ body }) => body.includes(new URL(login).pathname.split('/')[3]!)).length;
      };
      const fail = async (name: string) => assert.equal((await send(login, name, 'wrong')).status, 502);
      for (let attempt = 0; attempt < 105; attempt++) await fail('ann');
      assert.equal(await countAudited(), 100);
      await fail('bob');
      assert.equal(await countAudited(), 101);
      await fail('ANN ');
      assert.equal(await countAudited(), 101);
      server.close();
    });
  },
  {
    settings: {
      'dashboard.url': dashboardUrl,
      'sign_in.max_account_failures': '0',
      'sign_in.max_address_failures': '0',
    },
  },
);

onEveryEngine(
  'Failed sign-ons with LDAP',
  app => {
    test('are limited by account like sign-ins', async () => {
      const login = await createProfile(app(), byName);
      for (let attempt = 0; attempt < 3; attempt++) assert.equal((await send(login, 'ann', 'wrong')).status, 401);
      for (const name of [' ANN ', '\uff41nn', 'a\u200bnn', '\u{1d41a}nn'])
        assert.equal((await send(login, name)).status, 429, name);
      assert.equal((await send(login, 'bob')).status, 303);
    });

    test('by several names of one entry count together', async () => {
      const login = await createProfile(app(), { ...bySearch, LDAPFilter: '(|(uid=*USERNAME*)(mail=*USERNAME*))' });
      for (const name of ['bob', 'bob@example.org', 'bob'])
        assert.equal((await send(login, name, 'wrong')).status, 401);
      assert.equal((await send(login, 'bob@example.org')).status, 429);
      assert.equal((await send(login, 'ann')).status, 303);
    });

    test('make no request to the directory beyond the limit', async () => {
      let connections = 0;
      const server = createServer(socket => {
        connections++;
        // Bind response: invalidCredentials (49) to message 2.
        socket.on('error', () => undefined).once('data', () => socket.write(bindRefusal));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const login = await createProfile(app(), { ...byName, LDAPPort: String((server.address() as AddressInfo).port) });
      for (let attempt = 0; attempt < 3; attempt++) assert.equal((await send(login, 'ann', 'wrong')).status, 401);
      assert.equal((await send(login, 'ann', 'wrong')).status, 429);
      assert.equal(connections, 3);
      server.close();
    });
  },
  { settings: { 'sign_in.max_account_failures': '3' } },
);
