import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, startApp, type TestApp } from '../../../tests/support/app.ts';
import { readLastAudit } from '../../../tests/support/last-audit.ts';
import { addAccessRequest, addApi, addProduct, requestPortal, toFileForm } from '../../../tests/support/portal.ts';
import { addSiteDeveloper } from '../../../tests/support/portal-site.ts';
import { createSiteClient, signedInClient } from '../../../tests/support/site-client.ts';
import { sendExpiryNotices } from '../expiry-notices/expiry-notices.ts';
import type { storableSettings } from './stored-settings.ts';

const path = '/portal-api/general-settings';
const dayMs = 86_400_000;
/** Sign-up needs a mail server, which gets no mail here. */
const mailSettings = { 'mail.smtp_url': 'smtp://127.0.0.1:9', 'mail.from': 'portal@example.org' };

/** Page of an operation in the API reference. */
async function addReference(app: TestApp): Promise<string> {
  const APIID = await addApi(app);
  const product = await addProduct(app, { APIDetails: [{ APIID }], Catalogues: [1] });
  const paths = { '/orders': { get: { operationId: 'list', responses: {} } } };
  const body = toFileForm(JSON.stringify({ openapi: '3.0.3', info: {}, paths }));
  const stored = await app.ask('POST', `/portal-api/products/${product.ID}/api-details/${APIID}/oas`, { body });
  assert.ok(stored.status < 300, stored.text);
  return `/portal/catalogue-products/${product.Path}/${APIID}/docs/list`;
}

/** Overlaps that the page of an app offers for a rotation, and the form of one. */
async function openRotation(app: TestApp) {
  const user = await addSiteDeveloper(app);
  const { app: own, requestId } = await addAccessRequest(app, { app: { UserID: user.ID } });
  const path = `/portal-api/apps/${own.ID}/access-requests/${requestId}/credentials`;
  const [credential] = await requestPortal(app, 'GET', path);
  const client = await signedInClient(app, user);
  const { text } = await client.get(`/portal/private/apps/${own.ID}`);
  const [, fields = ''] = /<select name="overlap">(.*?)<\/select>/s.exec(text) ?? [];
  const options = [...fields.matchAll(/>([^<]+)<\/option>/g)].map(([, label]) => label);
  const form = { mode: 'roll', client_id: String(own.ID), cred_id: String(credential.ID) };
  const rotate = (overlap: string) => client.post('/portal/private/credentials', { ...form, overlap });
  return { options, rotate };
}

const readFrameAncestors = ({ headers }: { readonly headers: Headers }) =>
  /frame-ancestors ([^;]+)/.exec(headers.get('content-security-policy') ?? '')?.[1];

onEveryEngine(
  'settings of the portal that are set while it runs',
  app => {
    let docsUrl: string | undefined;
    const set = (body: object, status = 200) => requestPortal(app(), 'PUT', path, body, status);
    const visit = (url: string) => createSiteClient(app()).get(url);
    const findSetting = async (name: string) => {
      const [{ General }] = await requestPortal(app(), 'GET', '/portal-api/configs');
      return General.find((it: { Name: string }) => it.Name === name);
    };

    /** Effect of each setting on the site: `read` returns `changed` while the setting has the value. */
    const effects: Readonly<
      Record<(typeof storableSettings)[number], { value: unknown; read: () => Promise<unknown>; changed: unknown }>
    > = {
      'portal.name': {
        value: 'Acme APIs',
        read: async () => /Acme APIs/.test((await visit('/')).text),
        changed: true,
      },
      'portal.visibility': { value: 'hidden', read: async () => (await visit('/')).status, changed: 404 },
      'portal.indexing': {
        value: true,
        read: async () => /^Disallow: \/$/m.test((await visit('/robots.txt')).text),
        changed: false,
      },
      'portal.robots_txt': {
        value: 'User-agent: *\nDisallow: /drafts',
        read: async () => (await visit('/robots.txt')).text,
        changed: 'User-agent: *\nDisallow: /drafts\n',
      },
      'portal.embed_origins': {
        value: 'https://www.example.org',
        read: async () => readFrameAncestors(await visit('/blog?embed=1')),
        changed: 'https://www.example.org',
      },
      'portal.llms_txt': { value: true, read: async () => (await visit('/llms.txt')).status, changed: 200 },
      'portal.try_it': {
        value: 'off',
        read: async () => {
          docsUrl ??= await addReference(app());
          return /Sign in<\/a> to call/.test((await visit(docsUrl)).text);
        },
        changed: false,
      },
      'portal.secret_display': {
        value: 'reauthentication',
        read: async () => {
          const user = await addSiteDeveloper(app());
          const { app: own } = await addAccessRequest(app(), { app: { UserID: user.ID } });
          const { text } = await (await signedInClient(app(), user)).get(`/portal/private/apps/${own.ID}`);
          return /type="password"/.test(text);
        },
        changed: true,
      },
      'portal.second_factor': {
        value: 'all',
        read: async () =>
          (await (await signedInClient(app(), await addSiteDeveloper(app()))).get('/portal/private/apps')).location,
        changed: '/portal/private/profile?required=second-factor',
      },
      'portal.registration': {
        value: 'open',
        read: async () => (await visit('/auth/password/register')).status,
        changed: 200,
      },
      'portal.sso_creates_developers': {
        value: false,
        read: async () => {
          const EmailAddress = `${createPublicId()}@example.org`.toLowerCase();
          const body = { ForSection: 'portal', EmailAddress, DisplayName: 'New Developer' };
          const { Meta } = await requestPortal(app(), 'POST', '/portal-api/sso', body);
          const { status, text } = await visit(`/sso?nonce=${Meta}`);
          return status === 403 && /Only registered users may sign on/.test(text);
        },
        changed: true,
      },
      'portal.max_rotation_overlap_seconds': {
        value: 3600,
        read: async () => {
          const { options, rotate } = await openRotation(app());
          const isRefused = /may stay valid for 3600 seconds at most/.test((await rotate('86400')).text);
          return [options, isRefused];
        },
        changed: [['at once', 'in an hour'], true],
      },
      'portal.organisation_requests': {
        value: 'off',
        read: async () => {
          const user = await addSiteDeveloper(app(), { Role: 'consumer-team-member' });
          const { text } = await (await signedInClient(app(), user)).get('/portal/private/organisation');
          return /Organisations are not created here/.test(text);
        },
        changed: true,
      },
      'portal.invitation_ttl_seconds': {
        value: 3600,
        read: async () => {
          const nowMs = app().application.installation.services.clock.now();
          const body = { Email: `${createPublicId()}@example.org`, OrganisationID: 1 };
          const { ID } = await requestPortal(app(), 'POST', '/portal-api/invitations', body, 201);
          const { portal } = app().application.installation.services;
          return Number((await portal.invitations.get(ID))?.ExpiresAt) - nowMs < dayMs;
        },
        changed: true,
      },
      'portal.expiry_notice_days': {
        value: 90,
        read: async () => {
          const user = await addSiteDeveloper(app());
          const plan = { KeyExpiresIn: 86_400 * 60 };
          await addAccessRequest(app(), { plan, app: { UserID: user.ID } });
          await sendExpiryNotices(app().application.installation.services);
          const { text } = await (await signedInClient(app(), user)).get('/portal/private/notifications');
          return /Credential of \S+ expires on/.test(text);
        },
        changed: true,
      },
    };

    for (const [name, { value, read, changed }] of Object.entries(effects))
      test(`${name} has its effect at once, its source is shown, and a reset brings the configured value back`, async () => {
        const configured = (await findSetting(name)).Value;
        const before = await read();
        assert.notDeepEqual(before, changed);
        const list = await set({ [name]: value });
        assert.deepEqual(await readLastAudit(app()), ['updateGeneralSettings', name, '', 200]);
        const item = list.find((it: { Name: string }) => it.Name === name);
        assert.deepEqual(
          [item.Value, item.Source, item.IsEditable, item.Configured],
          [value, 'stored', true, configured],
        );
        assert.deepEqual(await read(), changed);
        await set({ [name]: null });
        assert.deepEqual(await read(), before);
        const { Value, Source } = await findSetting(name);
        assert.deepEqual([Value, Source], [configured, 'default']);
      });

    test('a value that another process stored has its effect with the next request', async () => {
      const { meta } = app().application.installation.services;
      await meta.set('portal_settings', JSON.stringify({ 'portal.name': 'Of another process', 'portal.try_it': 'no' }));
      assert.equal((await findSetting('portal.name')).Value, 'Of another process');
      assert.match((await visit('/')).text, /Of another process/);
      assert.equal((await findSetting('portal.try_it')).Source, 'default', 'an invalid stored value is ignored');
      await meta.remove('portal_settings');
      assert.doesNotMatch((await visit('/')).text, /Of another process/);
    });

    test('changes at the same time are all stored', async () => {
      await Promise.all([set({ 'portal.name': 'Both' }), set({ 'portal.llms_txt': true })]);
      assert.deepEqual(
        [(await findSetting('portal.name')).Value, (await findSetting('portal.llms_txt')).Value],
        ['Both', true],
      );
      await set({ 'portal.name': null, 'portal.llms_txt': null });
    });

    test('invalid and unknown settings, and those of the process, are refused by name, and nothing is stored', async () => {
      for (const [body, fault] of [
        [
          { 'portal.name': 'Not stored', 'portal.try_it': 'sometimes' },
          /^portal\.try_it: must be one of off, users, all/,
        ],
        [{ 'portal.expiry_notice_days': 366 }, /^portal\.expiry_notice_days: must be from 0 to 365/],
        [{ 'portal.robots_txt': 'User-agent: *\nKeep out' }, /^portal\.robots_txt: line 2 must be a rule such as/],
        [{ 'portal.robots_txt': 'A'.repeat(70_000) }, /^portal\.robots_txt: /],
        [{ 'portal.max_rotation_overlap_seconds': 7_776_001 }, /must be from 0 to 7776000/],
        ...[
          'www.example.org',
          'https://www.example.org/',
          "https://www.example.org 'self'",
          'https://*.example.org',
          'https://a.example;script-src *',
          'null',
          Array.from({ length: 21 }, (_, at) => `https://a${at}.example`).join(),
        ].map(origins => [{ 'portal.embed_origins': origins }, /^portal\.embed_origins: must (be|have)/] as const),
        [{ 'portal.port': 80 }, /portal\.port/],
        [{ 'portal.tri_it': 'off' }, /portal\.tri_it.*did you mean portal\.try_it/],
      ] as const)
        assert.match((await set(body, 422)).errors[0], fault);
      const { services } = app().application.installation;
      assert.equal(services.settings['portal.name'], 'Developer portal');
      assert.equal((await findSetting('portal.host')).IsEditable, false);
    });
  },
  { settings: mailSettings },
);

describe('settings of the portal that a flag sets', () => {
  test('a change is refused with their names, and a stored value has no effect', async () => {
    const app = await startApp('sqlite', { settings: { 'portal.name': 'By flag' } });
    try {
      const refused = await app.ask('PUT', path, { body: { 'portal.name': 'Here', 'portal.llms_txt': true } });
      assert.equal(refused.status, 422);
      assert.match(refused.body.errors[0], /^portal\.name: is set by an environment variable or flag/);
      const { meta } = app.application.installation.services;
      assert.equal(await meta.get('portal_settings'), undefined);
      await meta.set('portal_settings', '{"portal.name":"Here"}');
      assert.match((await createSiteClient(app).get('/')).text, /By flag/);
      const [{ General }] = await requestPortal(app, 'GET', '/portal-api/configs');
      const { Value, Source, IsEditable } = General.find((it: { Name: string }) => it.Name === 'portal.name');
      assert.deepEqual([Value, Source, IsEditable], ['By flag', 'flag', false]);
    } finally {
      await app.close();
    }
  });
});
