import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { onEveryEngine } from '../../../../tests/support/app.ts';
import { makeCertificate } from '../../../../tests/support/certificates.ts';
import { dashboardUrl, openSignedOnBrowser, visit } from '../../../../tests/support/oidc.ts';
import { type SamlTestProvider, samlEntityId, startSamlProvider } from '../../../../tests/support/saml.ts';
import { createSamlFlow } from '../../../../tests/support/saml-flow.ts';
import { signXml } from './post-binding.ts';
import { buildSignedUrl } from './redirect-binding.ts';

const own = makeCertificate({ cn: 'Service provider', keyType: 'rsa' });
const keys = { SPCertificate: own.certPem, SPPrivateKey: own.keyPem };
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const postBinding = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST';
const postOnly = { logoutEndpointPaths: { post: '/logout' } };

let provider: SamlTestProvider;
before(async () => {
  provider = await startSamlProvider();
});
beforeEach(() => {
  Object.assign(provider, { options: {}, logoutOptions: {}, participants: [] });
});
after(() => provider?.close());

interface RequestWish {
  id?: string;
  issuer?: string;
  destination: string;
  issuedAtMs?: number;
  nameId?: string;
  format?: string;
  sessionIndexes?: readonly string[];
  more?: string;
}

let requests = 0;
/** Logout request of a provider, as XML. */
function formatRequest(wish: RequestWish): string {
  const { id = `_request-${requests++}`, issuer = samlEntityId, destination, issuedAtMs = Date.now() } = wish;
  return [
    '<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"',
    ` xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0"`,
    ` IssueInstant="${new Date(issuedAtMs).toISOString()}" Destination="${destination}"${wish.more ?? ''}>`,
    `<saml:Issuer>${issuer}</saml:Issuer>`,
    `<saml:NameID Format="${wish.format ?? persistent}">${wish.nameId ?? 'ann'}</saml:NameID>`,
    ...(wish.sessionIndexes ?? []).map(index => `<samlp:SessionIndex>${index}</samlp:SessionIndex>`),
    '</samlp:LogoutRequest>',
  ].join('');
}

const readRedirected = (location: string, name: string) =>
  inflateRawSync(Buffer.from(new URL(location).searchParams.get(name)!, 'base64')).toString();
const readForm = (page: string) => ({
  action: /action="([^"]+)"/.exec(page)![1]!,
  fields: Object.fromEntries(
    [...page.matchAll(/name="([^"]+)"\s+value="([^"]*)"/g)].map(([, name, value]) => [name!, value!]),
  ),
});

onEveryEngine(
  'SAML single logout',
  app => {
    const flow = createSamlFlow(app, () => provider);
    const createProfile = () => flow.createProfile({}, keys);
    const toListener = (url: string) => url.replace(dashboardUrl, app().url.dashboard);
    const toPublic = (url: string) => url.replace(app().url.dashboard, dashboardUrl);

    async function signOnAs(login: string, id: string, sessionIndex: string) {
      provider.user = { id, attributes: { email: `${id}@example.org` } };
      provider.options = { ...provider.options, sessionIndex };
      const { jar, response } = await flow.signOn(login);
      assert.equal(response.status, 303);
      return (await openSignedOnBrowser(app(), jar)).browser;
    }
    const statusOf = async (browser: Awaited<ReturnType<typeof signOnAs>>) =>
      (await browser.ask('GET', '/api/session')).status;

    const sign = (login: string, wish: Partial<RequestWish> = {}, keyPem = provider.keyPem, relayState = '') =>
      buildSignedUrl(`${login}/logout`, {
        name: 'SAMLRequest',
        xml: formatRequest({ destination: `${toPublic(login)}/logout`, ...wish }),
        relayState,
        privateKey: createPrivateKey(keyPem),
      });

    const join = (login: string, nameId: string, sessionIndex: string, binding?: string) => {
      provider.participants = [
        {
          serviceProviderId: `${toPublic(login)}/metadata`,
          serviceProviderLogoutURL: `${toPublic(login)}/logout`,
          nameId,
          nameIdFormat: persistent,
          sessionIndex,
          cert: own.certPem,
          ...(binding && { binding }),
        },
      ];
    };

    test('a sign-out continues at the provider, which verifies the request and sends the browser back', async () => {
      const login = await createProfile();
      const browser = await signOnAs(login, 'ann', 'index-1');
      join(login, 'ann', 'index-1');
      const { status, body } = await browser.ask('DELETE', '/api/session');
      assert.deepEqual([status, body.Message], [200, 'Signed out']);
      assert.ok(body.Meta.startsWith(`${toPublic(login)}/logout/begin?token=`), body.Meta);
      assert.equal(await statusOf(browser), 401);
      const begun = await visit(toListener(body.Meta), new Map());
      assert.equal(begun.status, 303, await begun.text());
      const request = readRedirected(begun.headers.get('location')!, 'SAMLRequest');
      assert.match(request, /<samlp:SessionIndex>index-1<\/samlp:SessionIndex>/);
      const answered = await visit(begun.headers.get('location')!, new Map());
      const location = answered.headers.get('location')!;
      assert.ok(location?.startsWith(`${toPublic(login)}/logout?SAMLResponse=`), await answered.text());
      const finished = await visit(toListener(location), new Map());
      assert.deepEqual([finished.status, finished.headers.get('location')], [303, '/']);
      assert.equal((await visit(toListener(location), new Map())).status, 403, 'a response is accepted once');
      assert.equal((await visit(toListener(body.Meta), new Map())).status, 403, 'a token is accepted once');
    });

    test('a sign-out without single logout of profile or provider has no URL, or ends at the dashboard', async () => {
      const keyless = await signOnAs(await flow.createProfile(), 'ann', 'index-1');
      assert.equal((await keyless.ask('DELETE', '/api/session')).body.Meta, null);
      provider.options = { logoutEndpointPaths: { none: '/none' } };
      const metadata = await (await fetch(provider.metadataUrl)).text();
      assert.doesNotMatch(metadata, /SingleLogoutService/);
      const login = flow.toLogin(await flow.createProfileOf({ IDPMetadata: metadata, ...keys }));
      const browser = await signOnAs(login, 'ann', 'index-1');
      const { body } = await browser.ask('DELETE', '/api/session');
      const begun = await visit(toListener(body.Meta), new Map());
      assert.deepEqual([begun.status, begun.headers.get('location')], [303, '/']);
    });

    test('a logout request of the provider ends the session it names, and is answered with a signature', async () => {
      const login = await createProfile();
      const [ended, other, stranger] = [
        await signOnAs(login, 'ann', 'index-1'),
        await signOnAs(login, 'ann', 'index-2'),
        await signOnAs(login, 'bob', 'index-1'),
      ];
      const elsewhere = await signOnAs(await createProfile(), 'ann', 'index-1');
      join(login, 'ann', 'index-1');
      const started = await visit(`${provider.url}/logout`, new Map());
      const answered = await visit(toListener(started.headers.get('location')!), new Map());
      assert.equal(answered.status, 303, await answered.text());
      const finished = await visit(answered.headers.get('location')!, new Map());
      assert.deepEqual([finished.status, await finished.text()], [200, '200'], 'samlp verifies the response');
      const statuses = [];
      for (const browser of [ended, other, stranger, elsewhere]) statuses.push(await statusOf(browser));
      assert.deepEqual(statuses, [401, 200, 200, 200]);
      const { text } = await app().ask('GET', '/api/audit-logs?action=singleLogout');
      assert.ok(text.includes(samlEntityId) && !text.includes('SAMLRequest='));
    });

    test('the POST binding works in both directions', async () => {
      provider.options = postOnly;
      const login = flow.toLogin(
        await flow.createProfileOf({ IDPMetadata: await (await fetch(provider.metadataUrl)).text(), ...keys }),
      );
      const browser = await signOnAs(login, 'ann', 'index-1');
      join(login, 'ann', 'index-1', postBinding);
      const started = readForm(await (await visit(`${provider.url}/logout`, new Map())).text());
      const post = (url: string, fields: Record<string, string>) =>
        visit(url, new Map(), { method: 'POST', body: new URLSearchParams(fields) });
      const answered = await post(toListener(started.action), started.fields);
      assert.equal(answered.status, 200);
      assert.match(answered.headers.get('content-security-policy')!, new RegExp(`form-action ${provider.url}$`));
      const form = readForm(await answered.text());
      assert.equal(form.action, `${provider.url}/logout`);
      assert.equal(await (await post(form.action, form.fields)).text(), '200', 'samlp verifies the response');
      assert.equal(await statusOf(browser), 401);

      const second = await signOnAs(login, 'ann', 'index-2');
      join(login, 'ann', 'index-2', postBinding);
      const { body } = await second.ask('DELETE', '/api/session');
      const begun = readForm(await (await visit(toListener(body.Meta), new Map())).text());
      const response = readForm(await (await post(begun.action, begun.fields)).text());
      const finished = await post(toListener(response.action), response.fields);
      assert.deepEqual([finished.status, finished.headers.get('location')], [303, '/']);
    });

    test('a request without an index ends every session of its name identifier, and of no other', async () => {
      const login = await createProfile();
      const browsers = [
        await signOnAs(login, 'ann', 'index-1'),
        await signOnAs(login, 'ann', 'index-2'),
        await signOnAs(login, 'bob', 'index-1'),
      ];
      assert.equal((await visit(sign(login, { nameId: 'ANN' }), new Map())).status, 303);
      assert.equal((await visit(sign(login, { format: 'urn:other' }), new Map())).status, 303);
      assert.equal((await visit(sign(login, { sessionIndexes: ['index-3'] }), new Map())).status, 303);
      for (const browser of browsers) assert.equal(await statusOf(browser), 200);
      assert.equal((await visit(sign(login), new Map())).status, 303);
      const statuses = [];
      for (const browser of browsers) statuses.push(await statusOf(browser));
      assert.deepEqual(statuses, [401, 401, 200]);
    });

    test('a request that is unsigned, forged, for another side, too old, or replayed ends nothing', async () => {
      const login = await createProfile();
      const second = await createProfile();
      const browser = await signOnAs(login, 'ann', 'index-1');
      const stranger = makeCertificate({ cn: 'Other', keyType: 'rsa' });
      const signed = sign(login);
      const split = (url: string) => [...new URL(url).searchParams];
      const unsigned = `${login}/logout?${new URLSearchParams(split(signed).filter(([name]) => name === 'SAMLRequest'))}`;
      const requestOf = (url: string) => /SAMLRequest=[^&]+/.exec(url)![0];
      const foreignOrigin = sign(login, { destination: `${toPublic(second)}/logout` });
      const forms: Record<string, string> = {
        unsigned,
        'signed with another key': sign(login, {}, stranger.keyPem),
        'signed with our own key': sign(login, {}, own.keyPem),
        'another message under the signature': signed.replace(requestOf(signed), requestOf(sign(login))),
        'relay state added': `${signed}&RelayState=x`,
        'for another profile': sign(second).replace(second, login),
        'destination of another profile': foreignOrigin,
        'without a destination': sign(login, { destination: '' }),
        'another issuer': sign(login, { issuer: 'urn:other' }),
        'too old': sign(login, { issuedAtMs: Date.now() - 700_000 }),
        'in the future': sign(login, { issuedAtMs: Date.now() + 120_000 }),
        expired: sign(login, { more: ` NotOnOrAfter="${new Date(Date.now() - 120_000).toISOString()}"` }),
        'empty index': sign(login, { sessionIndexes: [''] }),
        'weak algorithm': signed.replace('rsa-sha256', 'rsa-sha1'),
        'a request as a response': signed.replace('SAMLRequest=', 'SAMLResponse='),
        'a long relay state': sign(login, {}, provider.keyPem, 'x'.repeat(81)),
      };
      for (const [about, url] of Object.entries(forms)) {
        const { status, headers } = await visit(url, new Map());
        assert.deepEqual([status, headers.get('location')], [403, null], about);
        assert.equal(await statusOf(browser), 200, about);
      }
      for (const query of [
        '',
        '?SAMLRequest=',
        `?${requestOf(signed)}&${requestOf(signed)}`,
        `?${requestOf(signed)}&SAMLResponse=a`,
      ]) {
        const { status } = await visit(`${login}/logout${query}`, new Map());
        assert.ok(status === 400 || status === 403, `${status} ${query}`);
      }
      assert.equal((await visit(signed, new Map())).status, 303);
      assert.equal(await statusOf(browser), 401);
      const again = await signOnAs(login, 'ann', 'index-1');
      assert.equal((await visit(signed, new Map())).status, 403, 'replayed');
      assert.equal(await statusOf(again), 200);
    });

    test('a posted request is read as its signature covers it', async () => {
      const login = await createProfile();
      const browser = await signOnAs(login, 'ann', 'index-1');
      const wish = { destination: `${toPublic(login)}/logout` };
      const xml = signXml(formatRequest(wish), createPrivateKey(provider.keyPem));
      const post = (message: string) =>
        visit(`${login}/logout`, new Map(), {
          method: 'POST',
          body: new URLSearchParams({ SAMLRequest: Buffer.from(message).toString('base64') }),
        });
      const other = signXml(formatRequest({ ...wish, nameId: 'bob' }), createPrivateKey(provider.keyPem));
      const signature = (text: string) => /<Signature[\s\S]*<\/Signature>/.exec(text)![0];
      for (const [about, changed] of Object.entries({
        unsigned: formatRequest(wish),
        'changed name': other.replace('>bob<', '>ann<'),
        'signature of another request': xml.replace(signature(xml), signature(other)),
        'signed request inside a forged one': formatRequest(wish).replace(
          '</samlp:LogoutRequest>',
          `${xml}</samlp:LogoutRequest>`,
        ),
        comment: xml.replace('>ann<', '>ann<!-- -->x<'),
        'no XML': 'text',
      })) {
        assert.equal((await post(changed)).status, 403, about);
        assert.equal(await statusOf(browser), 200, about);
      }
      assert.equal((await post(xml)).status, 303);
      assert.equal(await statusOf(browser), 401);
    });

    test('relay states are returned to the provider, and are never a place to go to', async () => {
      const login = await createProfile();
      const relayState = 'https://evil.example/?a=b&c';
      const { headers, status } = await visit(sign(login, {}, provider.keyPem, relayState), new Map());
      assert.equal(status, 303);
      const location = new URL(headers.get('location')!);
      assert.deepEqual([location.origin, location.searchParams.get('RelayState')], [provider.url, relayState]);
    });

    test('a profile without a key has no single logout, and one of another kind neither', async () => {
      const keyless = await flow.createProfile();
      assert.equal((await visit(sign(keyless), new Map())).status, 404);
      assert.equal((await visit(`${keyless}/logout/begin?token=x`, new Map())).status, 404);
      const login = await createProfile();
      assert.equal((await visit(`${login}/logout/begin?token=x`, new Map())).status, 403);
      assert.equal((await visit(`${login}/logout/begin`, new Map())).status, 403);
    });

    test('the metadata of this side names the service in both bindings, with the certificate of signatures', async () => {
      const login = await createProfile();
      const metadata = await (await fetch(`${login}/metadata`)).text();
      assert.equal(metadata.split(`Location="${toPublic(login)}/logout"`).length, 3);
      assert.match(metadata, /<KeyDescriptor use="signing">/);
    });
  },
  { settings: { 'dashboard.url': dashboardUrl, 'sign_in.max_address_failures': '0' } },
);
