import assert from 'node:assert/strict';
import { createPublicId } from '#base/ids.ts';
import { sendExpiryNotices } from '#portal/expiry-notices/expiry-notices.ts';
import type { MailName } from '#portal/mails/mail-table.ts';
import { sendQuotaNotices } from '#portal/quota-notices/quota-notices.ts';
import type { PortalEvent } from '#portal/webhooks/schema.ts';
import type { TestApp } from './app.ts';
import { makeAuthority, makeClientCertificate } from './certificates.ts';
import { addAccessRequest, addApi, addApp, addDeveloper, addPlan, addProduct, requestPortal } from './portal.ts';
import { sitePassword } from './portal-site.ts';
import { createSiteClient, signedInClient } from './site-client.ts';

/** Ways through the portal with all the webhook events and mails that each causes, once. */
export interface NoticeFlow {
  readonly name: string;
  readonly events: readonly PortalEvent[];
  /** Head or text of each mail. */
  readonly mails: Partial<Record<MailName, RegExp>>;
  run(parts: NoticeParts): Promise<void>;
}

export interface NoticeParts {
  readonly app: TestApp;
  /** Address of an upstream that answers. */
  readonly upstreamUrl: string;
  /** Begins to watch: what the flow caused before does not count. */
  begin(): Promise<void>;
  /** Waits for the mail of this subject, and gives the token of its link. */
  readToken(subject: RegExp): Promise<string>;
}

const dayMs = 86_400_000;
const send = (app: TestApp, method: string, path: string, body?: unknown, status = 200) =>
  requestPortal(app, method, `/portal-api${path}`, body, status);
const anAddress = () => `new-${createPublicId().toLowerCase()}@example.org`;

async function signUp({ app }: NoticeParts, email: string): Promise<void> {
  const client = createSiteClient(app);
  await client.get('/auth/password/register');
  const passwords = { password1: sitePassword, password2: sitePassword };
  const names = { email, first: 'New', last: 'Dev' };
  assert.equal((await client.post('/auth/password/register', { ...names, ...passwords })).status, 200);
}

/** An approved request with its credential, whose key expires and has a quota. */
async function aCredential(app: TestApp) {
  const found = await addAccessRequest(app, { plan: { KeyExpiresIn: 86_400 * 100 } });
  const { Credentials } = await send(app, 'GET', `/access_requests/${found.requestId}`);
  const request = `/apps/${found.app.ID}/access-requests/${found.requestId}`;
  return { ...found, request, credential: `${request}/credentials/${Credentials[0].ID}`, id: Credentials[0].ID };
}

async function runExpiry(days: number, { app, begin }: NoticeParts): Promise<void> {
  const { id } = await aCredential(app);
  const { services } = app.application.installation;
  const Expires = services.clock.now() + days * dayMs;
  await services.portal.credentials.change(id, it => ({ ...it, Expires }));
  await begin();
  await sendExpiryNotices(services);
  await sendExpiryNotices(services);
}

/** A client certificate of a credential that ends in some days. */
async function runCertificateExpiry(days: number, { app, begin }: NoticeParts): Promise<void> {
  const APIID = await addApi(app, `mtls-${createPublicId()}`, { use_mutual_tls_auth: true });
  const product = await addProduct(app, { APIDetails: [{ APIID }] });
  const [plan, owned] = [await addPlan(app), await addApp(app)];
  const Certificate = makeClientCertificate(makeAuthority(), 'shop').certPem;
  const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true, Certificate };
  await send(app, 'PUT', `/apps/${owned.ID}/provision`, body);
  const [{ ID }] = await send(app, 'GET', `/apps/${owned.ID}/certificates`);
  const { services } = app.application.installation;
  const NotAfter = services.clock.now() + days * dayMs;
  await services.portal.certificates.change(ID, it => ({ ...it, NotAfter }));
  await begin();
  await sendExpiryNotices(services);
  await sendExpiryNotices(services);
}

/** Uses a quota of four to three quarters: the first threshold. */
async function runQuota({ app, upstreamUrl, begin }: NoticeParts): Promise<void> {
  const name = `quota-${createPublicId()}`;
  const proxy = { listen_path: `/${name}/`, target_url: upstreamUrl };
  const product = await addProduct(app, { APIDetails: [{ APIID: await addApi(app, name, { proxy }) }] });
  const plan = await addPlan(app, { Quota: 4, QuotaRenewalRate: 3600 });
  const { ID } = await addApp(app);
  const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true };
  const { AccessRequestID } = await send(app, 'PUT', `/apps/${ID}/provision`, body);
  const { Credentials } = await send(app, 'GET', `/access_requests/${AccessRequestID}`);
  await app.application.waitForDataPlane();
  const headers = { authorization: Credentials[0].Credential };
  await begin();
  for (let call = 0; call < 3; call++)
    assert.equal((await fetch(`${app.url.gateway}/${name}/`, { headers })).status, 200);
  const { services } = app.application.installation;
  await sendQuotaNotices(services);
  await sendQuotaNotices(services);
}

async function anOrganisationRequest({ app, begin }: NoticeParts, action?: string): Promise<void> {
  const { ID: AdminID } = await addDeveloper(app);
  if (action === undefined) await begin();
  const { ID } = await send(app, 'POST', '/organisation-requests', { Name: `Acme ${createPublicId()}`, AdminID }, 201);
  if (action === undefined) return;
  await begin();
  await send(app, 'PUT', `/organisation-requests/${ID}/${action}`, action === 'approve' ? {} : undefined);
}

async function changePlan({ app, begin }: NoticeParts, decision: 'approve' | 'reject'): Promise<void> {
  const { request } = await aCredential(app);
  const plan = await addPlan(app, { RateLimit: 3, Per: 60 });
  await begin();
  const { AccessRequestID } = await send(app, 'PUT', `${request}/change`, { PlanID: plan.ID });
  await send(app, 'PUT', `/access_requests/${AccessRequestID}/${decision}`);
}

const accountFlows: readonly NoticeFlow[] = [
  {
    name: 'a sign-up that waits for approval, confirmed by its link',
    events: ['UserRegistered', 'UserVerified'],
    mails: {
      verify: /Subject: Confirm your e-mail address/,
      newuser: /Subject: New developer waits for approval: new-/,
      welcome_dev: /Subject: Welcome to /,
    },
    async run(parts) {
      await parts.begin();
      await signUp(parts, anAddress());
      const token = await parts.readToken(/Confirm your e-mail address/);
      const client = createSiteClient(parts.app);
      await client.get(`/auth/verify?token=${token}`);
      assert.equal((await client.post('/auth/verify', { token, password: sitePassword })).status, 200);
    },
  },
  {
    name: 'a sign-up with the address of an account',
    events: [],
    mails: { account_exists: /Subject: You already have an account/ },
    async run(parts) {
      const { Email } = await addDeveloper(parts.app);
      await parts.begin();
      await signUp(parts, Email);
    },
  },
  {
    name: 'an accepted invitation',
    events: ['RegisterInvite', 'UserRegistered', 'UserVerified'],
    mails: { targeted_invite: /Subject: .* invites you to /, welcome_dev: /Subject: Welcome to / },
    async run({ app, begin, readToken }) {
      await begin();
      await send(app, 'POST', '/invitations', { Email: anAddress() }, 201);
      const fields = { token: await readToken(/invites you to/), first: 'New', last: 'Comer' };
      const client = createSiteClient(app);
      await client.get(`/auth/password/register?token=${fields.token}`);
      const passwords = { password1: sitePassword, password2: sitePassword };
      assert.equal((await client.post('/auth/invitation', { ...fields, ...passwords })).status, 303);
    },
  },
  {
    name: 'a new administrator',
    events: ['UserRegistered'],
    mails: { welcome_admin: /You are an administrator of/ },
    async run({ app, begin }) {
      await begin();
      await addDeveloper(app, { Role: 'provider-admin' });
    },
  },
  {
    name: 'a deactivated and activated user',
    events: ['UserAccountDeactivated', 'UserAccountActivated'],
    mails: { deactivate: /Subject: Your account is no longer active/, activate: /Subject: Your account is active/ },
    async run({ app, begin }) {
      const { ID } = await addDeveloper(app);
      await begin();
      for (const Active of [false, true]) await send(app, 'PUT', `/users/${ID}`, { Active });
    },
  },
  {
    name: 'a forgotten password',
    events: ['PasswordReset'],
    mails: { reset_password: /Subject: Reset your password/ },
    async run({ app, begin }) {
      const { Email } = await addDeveloper(app, { Password: sitePassword });
      await begin();
      const client = createSiteClient(app);
      await client.get('/auth/password/new');
      await client.post('/auth/password/new', { email: Email });
    },
  },
  {
    name: 'a password that an administrator sets',
    events: [],
    mails: { security: /Subject: Your account was changed/ },
    async run({ app, begin }) {
      const { ID } = await addDeveloper(app);
      await begin();
      await send(app, 'PUT', `/users/${ID}`, { Password: 'another long password' });
    },
  },
];

const accessFlows: readonly NoticeFlow[] = [
  {
    name: 'an approved request of a new app',
    events: ['ApplicationRegistered', 'AccessRequestCreated', 'CredentialRegistered', 'AccessRequestApproved'],
    mails: { submitted: /Subject: Access request \d+/, approve: /Subject: Access granted: / },
    async run({ app, begin }) {
      const [product, plan, { ID: UserID }] = [await addProduct(app), await addPlan(app), await addDeveloper(app)];
      await begin();
      const { ID } = await addApp(app, { UserID });
      const body = { PlanID: plan.ID, ProductIDs: [product.ID] };
      const { AccessRequestID } = await send(app, 'PUT', `/apps/${ID}/provision`, body);
      await send(app, 'PUT', `/access_requests/${AccessRequestID}/approve`);
    },
  },
  {
    name: 'a request approved with another plan',
    events: ['CredentialRegistered', 'AccessRequestApproved'],
    mails: { approve: /with the plan Gold \([^)]*\), granted in place of Silver\./ },
    async run({ app, begin }) {
      const product = await addProduct(app);
      const [silver, gold] = [
        await addPlan(app, { DisplayName: 'Silver' }),
        await addPlan(app, { DisplayName: 'Gold' }),
      ];
      const contents = { Name: product.Name, Products: [product.ID], Plans: [silver.ID, gold.ID] };
      await send(app, 'POST', '/catalogues', contents);
      const { ID } = await addApp(app);
      const body = { PlanID: silver.ID, ProductIDs: [product.ID] };
      const { AccessRequestID } = await send(app, 'PUT', `/apps/${ID}/provision`, body);
      await begin();
      await send(app, 'PUT', `/access_requests/${AccessRequestID}/approve?plan_id=${gold.ID}`);
    },
  },
  {
    name: 'a rejected request',
    events: ['AccessRequestRejected'],
    mails: { reject: /Reason: Tell us more/ },
    async run({ app, begin }) {
      const { requestId } = await addAccessRequest(app, { pending: true });
      await begin();
      await send(app, 'PUT', `/access_requests/${requestId}/reject?reason=Tell+us+more`);
    },
  },
  {
    name: 'an approved change of plan',
    events: ['PlanChangeRequested', 'PlanChangeApproved'],
    mails: { submitted: /Subject: Access request \d+/, planchanged: /Subject: Plan of \S+ is now / },
    run: parts => changePlan(parts, 'approve'),
  },
  {
    name: 'a rejected change of plan',
    events: ['PlanChangeRequested', 'PlanChangeRejected'],
    mails: { submitted: /Subject: Access request \d+/, reject: /Subject: Access not granted: / },
    run: parts => changePlan(parts, 'reject'),
  },
  {
    name: 'a rotated and revoked credential, and the removal of its app',
    events: ['CredentialRotated', 'CredentialRevoked', 'ApplicationDeleted'],
    mails: { rotated: /Subject: Key of \S+ was rotated/, revoked: /Subject: Credential of \S+ was revoked/ },
    async run({ app, begin }) {
      const { credential, app: owned } = await aCredential(app);
      await begin();
      await send(app, 'PUT', `${credential}/rotate`);
      await send(app, 'DELETE', credential);
      await send(app, 'DELETE', `/apps/${owned.ID}`);
    },
  },
  {
    name: 'a credential that expires soon',
    events: ['CredentialExpiring'],
    mails: { keytoexpire: /Subject: Credential of \S+ expires on \d{4}-/ },
    run: parts => runExpiry(13, parts),
  },
  {
    name: 'a note of an administrator about a credential',
    events: [],
    mails: { credentialnote: /Subject: Keys change in June[\s\S]*It is about:/ },
    async run({ app, begin }) {
      const { id } = await aCredential(app);
      await begin();
      await send(app, 'POST', '/credentials/notify', { IDs: [id], Headline: 'Keys change in June' });
      await send(app, 'POST', '/credentials/notify', { IDs: [id], Headline: 'Keys change in June' });
    },
  },
  {
    name: 'a credential that has expired',
    events: ['CredentialExpired'],
    mails: { keyexpired: /Subject: Credential of \S+ has expired/ },
    run: parts => runExpiry(-1, parts),
  },
  {
    name: 'a client certificate that expires soon',
    events: [],
    mails: { certtoexpire: /Subject: Client certificate of \S+ expires on \d{4}-/ },
    run: parts => runCertificateExpiry(13, parts),
  },
  {
    name: 'a client certificate that has expired',
    events: [],
    mails: { certexpired: /Subject: Client certificate of \S+ has expired/ },
    run: parts => runCertificateExpiry(-1, parts),
  },
  {
    name: 'a credential that used three quarters of its quota',
    events: ['QuotaThreshold'],
    mails: { quota: /Subject: \S+ used 75% of its quota/ },
    run: runQuota,
  },
];

const offerFlows: readonly NoticeFlow[] = [
  {
    name: 'a published product with a changed text, and a plan with a changed rate',
    events: ['ProductPublished', 'ProductChanged', 'PlanChanged'],
    mails: {},
    async run({ app, begin }) {
      await begin();
      const [product, plan] = [await addProduct(app), await addPlan(app)];
      await send(app, 'PUT', `/products/${product.ID}`, { Description: 'Better' });
      await send(app, 'PUT', `/plans/${plan.ID}`, { RateLimit: 7 });
    },
  },
  {
    name: 'an entry of a changelog',
    events: [],
    mails: { announce: /Orders can be cancelled/ },
    async run({ app, begin }) {
      const product = await addProduct(app, { Catalogues: [1] });
      const client = await signedInClient(app, await addDeveloper(app, { Password: sitePassword }));
      const entry = { Kind: 'added', Text: 'With one call.', Version: '1.1' };
      await send(app, 'POST', `/products/${product.ID}/changelog`, { ...entry, Headline: 'First' }, 201);
      assert.equal((await client.post(`/portal/private/subscriptions/${product.Path}`, { wanted: 'yes' })).status, 303);
      await begin();
      const Headline = 'Orders can be cancelled';
      await send(app, 'POST', `/products/${product.ID}/changelog`, { ...entry, Headline }, 201);
    },
  },
  {
    name: 'a provider that is unavailable, and another that returns',
    events: ['ProviderDown', 'ProviderUp', 'SyncFinished'],
    mails: { ops: /Subject: .*needs attention/ },
    async run({ app, begin }) {
      const MetaData = JSON.stringify({ URL: 'http://127.0.0.1:9', Secret: 's', OrgID: 'o', Gateway: '' });
      const { ID } = await send(app, 'POST', '/providers', {
        Name: 'Europe',
        Type: 'gw-pro',
        Configuration: { MetaData },
      });
      await send(app, 'PUT', '/providers/1/synchronize');
      await app.application.installation.services.portal.providers.change(1, it => ({ ...it, Status: 'Down' }));
      await begin();
      await send(app, 'PUT', `/providers/${ID}/synchronize`, undefined, 422);
      await send(app, 'PUT', '/providers/1/synchronize');
    },
  },
];

const organisationFlows: readonly NoticeFlow[] = [
  {
    name: 'a request for an organisation',
    events: ['OrganisationRequestCreated'],
    mails: { organisation_request: /Subject: Organisation request: Acme/ },
    run: anOrganisationRequest,
  },
  {
    name: 'an approved request for an organisation',
    events: ['OrganisationRequestApproved', 'OrganisationRegistered'],
    mails: { organisation_approve: /Subject: Organisation Acme .*is ready/ },
    run: parts => anOrganisationRequest(parts, 'approve'),
  },
  {
    name: 'a rejected request for an organisation',
    events: ['OrganisationRequestRejected'],
    mails: { organisation_reject: /Subject: Organisation Acme .*was not approved/ },
    run: parts => anOrganisationRequest(parts, 'reject'),
  },
];

export const noticeFlows: readonly NoticeFlow[] = [
  ...accountFlows,
  ...accessFlows,
  ...offerFlows,
  ...organisationFlows,
];
