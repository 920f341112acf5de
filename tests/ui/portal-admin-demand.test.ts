import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { makeAuthority, makeClientCertificate } from '../support/certificates.ts';
import { assertAccessible } from '../support/dashboard-app.ts';
import {
  addAccessRequest,
  addApi,
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  requestPortal,
} from '../support/portal.ts';
import { testPortalAdmin } from '../support/portal-admin.ts';
import { addSiteDeveloper, type Developer } from '../support/portal-site.ts';

describe('Portal admin: access requests, apps and people', () => {
  const portal = testPortalAdmin();
  let admin: Developer;
  before(async () => {
    admin = await portal.anAdmin();
  });
  const read = (path: string) => requestPortal(portal.app(), 'GET', `/portal-api${path}`);

  test('an administrator approves a pending request, and the app has a masked key', async () => {
    const { requestId, app } = await addAccessRequest(portal.app(), { pending: true });
    const page = await portal.openAs(admin, '/admin/access_requests');
    await page.getByRole('link', { name: `${app.Name} (request ${requestId})` }).click();
    await page.getByRole('button', { name: 'Approve request' }).click();
    await page.getByText('1 request was approved').waitFor();
    await page.getByRole('heading', { name: 'Credentials' }).waitFor();
    const { Status, Credentials } = await read(`/access_requests/${requestId}`);
    assert.deepEqual([Status, Credentials.length], ['approved', 1]);
    assert.equal(await page.getByText(Credentials[0].Credential).count(), 0);
  });

  test('a request is approved with another plan of the catalogue, and lists the other requests of its app', async () => {
    const product = await addProduct(portal.app());
    const [silver, gold] = [
      await addPlan(portal.app(), { DisplayName: 'Small' }),
      await addPlan(portal.app(), { DisplayName: 'Large' }),
    ];
    const contents = { Name: product.Name, Products: [product.ID], Plans: [silver.ID, gold.ID] };
    await requestPortal(portal.app(), 'POST', '/portal-api/catalogues', contents);
    const app = await addApp(portal.app());
    const ask = async () => {
      const body = { PlanID: silver.ID, ProductIDs: [product.ID] };
      return (await requestPortal(portal.app(), 'PUT', `/portal-api/apps/${app.ID}/provision`, body)).AccessRequestID;
    };
    const [first, second] = [await ask(), await ask()];
    await requestPortal(portal.app(), 'PUT', `/portal-api/access_requests/${first}/reject?reason=Too+early`);
    const page = await portal.openAs(admin, `/admin/access_requests/${second}`);
    const heading = page.getByRole('heading', { name: 'Other requests of the app' });
    const others = page.locator('section').filter({ has: heading });
    await others.getByText('Too early').waitFor();
    await others.getByText('Rejected').waitFor();
    assert.equal(await others.getByRole('link').count(), 1);
    await page.getByLabel('Plan to grant').selectOption(String(gold.ID));
    await page.getByRole('button', { name: 'Approve request' }).click();
    await page.getByText('1 request was approved').waitFor();
    await page.getByRole('link', { name: gold.Name, exact: true }).waitFor();
    await page.getByText('Requested plan').waitFor();
    const { PlanID, RequestedPlan } = await read(`/access_requests/${second}`);
    assert.deepEqual([PlanID, RequestedPlan], [gold.ID, silver.Name]);
    await others.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: `${app.Name} (request ${first})` }).waitFor();
    await others.getByText(gold.Name).waitFor();
  });

  test('selected requests are rejected together, and the list shows other states by a filter', async () => {
    const ids = [];
    for (let place = 0; place < 2; place++)
      ids.push((await addAccessRequest(portal.app(), { pending: true })).requestId);
    const page = await portal.openAs(admin, '/admin/access_requests');
    for (const id of ids) await page.getByRole('checkbox', { name: new RegExp(`request ${id}\\)`) }).check();
    await page.getByRole('button', { name: 'Reject selected' }).click();
    await page.getByLabel('Reason').fill('No budget');
    await page.getByRole('button', { name: 'Reject 2 requests' }).click();
    await page.getByText('2 requests were rejected').waitFor();
    for (const id of ids) assert.equal((await read(`/access_requests/${id}`)).Status, 'rejected');
    await page.getByLabel('State').selectOption('Rejected');
    await page.waitForURL(/state=rejected/);
    await page.getByRole('link', { name: new RegExp(`request ${ids[0]}\\)`) }).waitFor();
    assert.equal(await page.getByRole('checkbox').count(), 0);
  });

  test('an approval that the server refuses names the reason, and the request stays selected', async () => {
    const { requestId } = await addAccessRequest(portal.app(), { pending: true });
    const page = await portal.openAs(admin, '/admin/access_requests');
    await page.getByRole('checkbox', { name: new RegExp(`request ${requestId}\\)`) }).check();
    await requestPortal(portal.app(), 'PUT', `/portal-api/access_requests/${requestId}/reject`);
    await page.getByRole('button', { name: 'Approve selected' }).click();
    await page.getByText(new RegExp(`Request ${requestId}: `)).waitFor();
    await page.getByText('1 selected').waitFor();
  });

  test('access is given on behalf of a developer, and its key is rotated and revoked', async () => {
    const [product, plan, app] = [
      await addProduct(portal.app(), { DisplayName: 'Weather' }),
      await addPlan(portal.app(), { DisplayName: 'Gold' }),
      await addApp(portal.app()),
    ];
    const page = await portal.openAs(admin, `/admin/apps/${app.ID}`);
    const crumbs = page.getByRole('navigation', { name: 'Breadcrumb' });
    await crumbs.getByRole('link', { name: 'Apps', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Give access' }).click();
    const dialog = page.getByRole('dialog', { name: 'Give access' });
    await dialog.getByRole('checkbox', { name: 'Weather' }).check();
    const silver = await addPlan(portal.app(), { DisplayName: 'Silver' });
    await dialog.getByLabel('Search plans').fill('gol');
    await dialog.getByRole('checkbox', { name: 'Silver' }).waitFor({ state: 'detached' });
    await dialog.getByRole('checkbox', { name: 'Gold' }).check();
    await dialog.getByRole('button', { name: 'Give access' }).click();
    await page.getByText('The access was requested').waitFor();
    const credentialOf = async () => (await read(`/apps/${app.ID}`)).AccessRequests.flat()[0].Credentials[0];
    const first = await credentialOf();
    await page.getByRole('link', { name: `${product.Name} with plan ${plan.Name}` }).waitFor();
    await page.getByRole('button', { name: 'Change plan or products' }).click();
    const change = page.getByRole('dialog', { name: 'Change plan or products' });
    await change.getByRole('button', { name: 'Change plan or products' }).click();
    await change.getByText(/is the plan of the request already/).waitFor();
    await change.getByLabel('Search plans').fill('silv');
    await change.getByRole('checkbox', { name: 'Silver' }).check();
    await change.getByRole('button', { name: 'Change plan or products' }).click();
    await page.getByText('The access was changed').waitFor();
    await page.getByRole('link', { name: `${product.Name} with plan ${silver.Name}` }).waitFor();
    assert.equal((await credentialOf()).Credential, first.Credential, 'the key stays the same');
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('checkbox', { name: /I understand/ }).check();
    await page.getByRole('button', { name: 'Rotate credential' }).click();
    await page.getByText('The credential was rotated').waitFor();
    assert.notEqual((await credentialOf()).Credential, first.Credential);
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('checkbox', { name: 'Revoke also while the provider is unavailable' }).check();
    await page.getByRole('checkbox', { name: /I understand/ }).check();
    await page.getByRole('button', { name: 'Revoke credential' }).click();
    await page.getByText('The credential was revoked').waitFor();
    assert.equal(await credentialOf(), undefined);
    await page.getByText('Approved, then revoked').waitFor();
    await page.getByRole('link', { name: `${product.Name} with plan ${silver.Name}` }).click();
    await page.getByText('its credentials were revoked since').waitFor();
    await page.getByRole('link', { name: silver.Name, exact: true }).waitFor();
  });

  test('a custom credential is added to an app, shown on demand and deleted; members that are missing are named', async () => {
    const app = await addApp(portal.app(), { Name: 'Custom keys' });
    const path = `/apps/${app.ID}/custom_credentials`;
    const page = await portal.openAs(admin, `/admin/apps/${app.ID}`);
    await page.getByText('Administrators added no credentials.').waitFor();
    await page.getByRole('button', { name: 'Add credential' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add credential' });
    await dialog.getByLabel('Alias').fill('billing');
    await dialog.getByRole('button', { name: 'Add credential' }).click();
    await dialog.getByText(/PlanID: is required/).waitFor();
    await dialog.getByLabel('Kind').selectOption('Key and secret of another system');
    await dialog.getByLabel('Key', { exact: true }).fill('other-key');
    await dialog.getByLabel('Secret', { exact: true }).fill('other-secret');
    await assertAccessible(page, 'new custom credential');
    await dialog.getByRole('button', { name: 'Add credential' }).click();
    await page.getByText('The credential billing was added').waitFor();
    const [{ ID }] = await read(path);
    assert.equal((await read(`${path}/${ID}`)).CredentialSecret, 'other-secret');
    assert.ok(!(await page.content()).includes('other-secret'), 'not read yet');
    await page.getByRole('button', { name: 'Show key of billing' }).click();
    await page.getByText('Secret', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Delete credential billing' }).click();
    await page.getByRole('checkbox', { name: /I understand/ }).check();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Delete credential billing' }).click();
    await page.getByText('Administrators added no credentials.').waitFor();
    assert.deepEqual(await read(path), []);
  });

  test('the owner of a new app is found by address, and the list of apps names the owner', async () => {
    const [owner, other] = [await addDeveloper(portal.app()), await addDeveloper(portal.app())];
    const page = await portal.openAs(admin, '/admin/apps/new');
    await page.getByLabel('Name (required)').fill('Owned app');
    await page.getByLabel('Search users by name or address').fill(owner.Email);
    await page.getByRole('checkbox', { name: new RegExp(other.Email) }).waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: new RegExp(owner.Email) }).check();
    await page.getByRole('button', { name: 'Create app' }).click();
    await page.getByRole('heading', { level: 1, name: 'Owned app' }).waitFor();
    await page.getByRole('checkbox', { name: new RegExp(owner.Email), checked: true }).waitFor();
    assert.equal((await read('/apps?q=Owned%20app'))[0].UserID, owner.ID);
    await page.goto(`${portal.app().url.portal}/admin/apps?q=Owned`);
    await page.getByRole('link', { name: owner.Email }).waitFor();
    await page
      .getByRole('row', { name: /Owned app/ })
      .getByText('Default Organisation')
      .waitFor();
    await page.goto(`${portal.app().url.portal}/admin/users`);
    await page.getByRole('searchbox', { name: 'Search by name or address' }).fill(owner.Email);
    await page.getByRole('link', { name: other.Email }).waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: new RegExp(owner.Email) })
      .getByText('Default Organisation')
      .waitFor();
  });

  test('client certificates of apps are listed with app and owner, and searched', async () => {
    const APIID = await addApi(portal.app(), 'with-certificate', { use_mutual_tls_auth: true });
    const product = await addProduct(portal.app(), { APIDetails: [{ APIID }] });
    const [plan, app] = [await addPlan(portal.app()), await addApp(portal.app())];
    const { certPem, fingerprint } = makeClientCertificate(makeAuthority(), 'shop');
    const body = { PlanID: plan.ID, ProductIDs: [product.ID], ProvisionImmediately: true, Certificate: certPem };
    await requestPortal(portal.app(), 'PUT', `/portal-api/apps/${app.ID}/provision`, body);
    const page = await portal.openAs(admin, '/admin/certificates');
    const row = page.getByRole('row', { name: new RegExp(app.Name) });
    await row.getByText('shop', { exact: true }).waitFor();
    await row.getByRole('link', { name: (await read(`/users/${app.UserID}`)).Email }).waitFor();
    await page.getByRole('searchbox', { name: /Search by app/ }).fill('nothing like this');
    await row.waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: /Search by app/ }).fill(fingerprint.slice(0, 16));
    await row.waitFor();
  });

  test('the overview and the configuration say that sign-up and mails are off, and what follows', async () => {
    const page = await portal.openAs(admin, '/admin');
    await page.getByText('Visitors cannot sign up: you create or invite users').waitFor();
    await page.getByText('There is no mail server').waitFor();
    await page.goto(`${portal.app().url.portal}/admin/configuration`);
    await page.getByText('There is no mail server').waitFor();
  });

  test('a developer who opens the admin app stays signed in on a page that says why', async () => {
    const developer = await addSiteDeveloper(portal.app());
    const page = await portal.openAs(developer, '/');
    const reply = await page.goto(`${portal.app().url.portal}/admin`);
    assert.equal(reply?.status(), 403);
    await page.getByRole('heading', { level: 1, name: 'For administrators' }).waitFor();
    await page.getByText(developer.Email).first().waitFor();
    assert.equal(await page.getByRole('link', { name: 'Sign in' }).count(), 0);
  });

  test('a state without requests says so, and offers the other states', async () => {
    const page = await portal.openAs(admin, '/admin/access_requests?state=pending&p=1');
    for (const { ID } of await read('/access_requests?status=pending&per_page=1000'))
      await requestPortal(portal.app(), 'DELETE', `/portal-api/access_requests/${ID}`);
    await page.reload();
    await page.getByRole('heading', { name: 'No request waits for a decision' }).waitFor();
    await page.getByLabel('State').selectOption('All states');
    await page.waitForURL(/state=all/);
  });

  test('a synchronisation says what it added, and that nothing changed afterwards', async () => {
    const policy = { name: 'plan of the dashboard', partitions: { quota: true }, quota_max: 3, quota_renewal_rate: 60 };
    await requestPortal(portal.app(), 'POST', '/api/portal/policies', policy);
    const page = await portal.openAs(admin, '/admin/providers/1');
    await page.getByRole('button', { name: 'Preview' }).click();
    const preview = page.getByRole('dialog');
    await preview.getByText('Plan plan of the dashboard: added').waitFor();
    await preview.getByRole('button', { name: 'Synchronise', exact: true }).click();
    await page.getByText(/^Synchronised: .*1 plan added/).waitFor();
    await page.getByRole('button', { name: 'Synchronise', exact: true }).click();
    await page.getByText('Synchronised: nothing has changed').waitFor();
    await page.goto(`${portal.app().url.portal}/admin/plans`);
    const row = page.getByRole('row', { name: /plan of the dashboard/ });
    await row.getByText('no rate limit, quota of 3 a minute').waitFor();
    await row.getByText('In no catalogue').waitFor();
  });

  test('a user is created with a fault at its field first, changed, and deleted by its address', async () => {
    const page = await portal.openAs(admin, '/admin/users/new');
    await page.getByRole('button', { name: 'Create user' }).waitFor();
    assert.equal(await page.getByText('Unsaved changes').count(), 0, 'nothing was typed');
    await page.getByLabel('E-mail address').fill('new@example.org');
    await page.getByText('Unsaved changes').waitFor();
    await page.getByLabel('First name').fill('New');
    await page.getByLabel('Password', { exact: true }).fill('short');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText(/at least \d+ characters/).waitFor();
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery staple');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('heading', { level: 1, name: 'new@example.org' }).waitFor();
    await page.getByLabel('Last name').fill('Comer');
    await page.getByRole('button', { name: 'Save user' }).click();
    await page.getByText('new@example.org was saved').waitFor();
    const id = Number(/(\d+)$/.exec(page.url())![1]);
    assert.deepEqual([(await read(`/users/${id}`)).First, (await read(`/users/${id}`)).Last], ['New', 'Comer']);
    await page.getByText('Last sign-in: Never').waitFor();
    const colour = { Identifier: 'colour', Name: 'Colour', Type: 2, DropdownValues: 'red,green' };
    const attributes = '/portal-api/extended_attributes/1/custom-attributes';
    const attribute = await requestPortal(portal.app(), 'POST', attributes, colour, 201);
    await page.reload();
    await page.getByLabel('Colour').selectOption('green');
    await page.getByRole('button', { name: 'Save attributes' }).click();
    await page.getByText('The attributes were saved').waitFor();
    assert.equal((await read(`/users/${id}/custom-attributes/${attribute.ID}`)).Value, 'green');
    await assertAccessible(page, 'user with attributes');
    const other = await portal.openAs(admin, `/admin/custom_attributes/${attribute.ID}`);
    await other.getByRole('button', { name: 'Delete', exact: true }).click();
    await other.getByText('The value of 1 user is deleted too.').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('checkbox', { name: 'Delete also while a provider is unavailable' }).check();
    await page.getByLabel(/^Type new@example.org/).fill('new@example.org');
    await page.getByRole('button', { name: 'Delete user new@example.org' }).click();
    await page.waitForURL(/\/admin\/users$/);
    await requestPortal(portal.app(), 'GET', `/portal-api/users/${id}`, undefined, 404);
  });

  test('an organisation gets a team, which becomes the audience of a private catalogue', async () => {
    const page = await portal.openAs(admin, '/admin/organisations');
    await page.getByRole('button', { name: 'Create organisation' }).click();
    const dialog = page.getByRole('dialog', { name: 'Create organisation' });
    await dialog.getByLabel('Name').fill('Partner Ltd');
    await dialog.getByRole('button', { name: 'Create organisation' }).click();
    await page.getByRole('heading', { level: 1, name: 'Partner Ltd' }).waitFor();
    await page.getByRole('button', { name: 'Add team' }).click();
    await page.getByLabel('Name of the team').fill('Mobile');
    await page.getByRole('dialog').getByRole('button', { name: 'Add team' }).click();
    await page.getByRole('button', { name: 'Delete team Mobile' }).waitFor();
    await page.goto(`${portal.app().url.portal}/admin/organisations?q=partner`);
    const row = page.getByRole('row', { name: /Partner Ltd/ });
    await row.waitFor();
    const numbers = await row.getByRole('cell', { name: /^\d+$/ }).allInnerTexts();
    assert.deepEqual(numbers.slice(0, 3), ['2', '0', '0'], 'teams, users and apps');
    await page.goto(`${portal.app().url.portal}/admin/catalogues/2`);
    await page.getByLabel('Organisation').selectOption('Partner Ltd');
    await page.getByLabel('Team', { exact: true }).selectOption('Mobile');
    await page.getByRole('button', { name: 'Add to the audience' }).click();
    await page.getByText('Partner Ltd: Mobile').waitFor();
    const { OrgCatalogues } = await read('/catalogues/2');
    assert.equal(OrgCatalogues.length, 1);
  });

  test('a product is created from an API, named, and put into a catalogue', async () => {
    await addApi(portal.app(), 'pay');
    await addApi(portal.app(), 'pay-open', { use_standard_auth: false, use_keyless: true });
    const page = await portal.openAs(admin, '/admin/api_products/new');
    await page.getByLabel('Name (required)').fill('payments');
    await page.getByText('The product is in no catalogue: visitors').waitFor();
    await page.getByLabel('Search APIs by name').fill('PAY');
    const item = page.getByRole('checkbox', { name: 'pay (/pay/)' });
    await item.check();
    await page.getByText('It uses No credential, and the chosen APIs API key').waitFor();
    assert.ok(await page.getByRole('checkbox', { name: 'pay-open (/pay-open/)' }).isDisabled());
    await page.getByRole('button', { name: 'Create product' }).click();
    await page.getByRole('heading', { level: 1, name: 'payments' }).waitFor();
    await page.getByLabel('Display name').fill('Payments');
    await page.getByRole('link', { name: 'APIs', exact: true }).click();
    await page.getByText('/pay/', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Details' }).click();
    await page.getByRole('button', { name: 'Add Public Catalogue' }).click();
    await page.getByRole('button', { name: 'Save product' }).click();
    await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
    const { DisplayName, Catalogues, APIDetails } = await read(
      `/products/${/(\d+)/.exec(new URL(page.url()).pathname)![1]}`,
    );
    assert.deepEqual([DisplayName, Catalogues, APIDetails.length], ['Payments', ['Public Catalogue'], 1]);
  });

  test('a catalogue gets products and plans by its lists, and a plan its limits', async () => {
    const listed = await addProduct(portal.app(), { DisplayName: 'Listed product' });
    const page = await portal.openAs(admin, '/admin/plans/new');
    await page.getByLabel('Name (required)').fill('silver');
    await page.getByLabel('Provider').selectOption('Gatewright');
    await page.getByRole('switch', { name: 'No rate limit' }).uncheck();
    await page.getByLabel('Requests', { exact: true }).fill('100');
    await page.getByRole('button', { name: 'Create plan' }).click();
    await page.getByRole('heading', { level: 1, name: 'silver' }).waitFor();
    const plan = (await read('/plans')).find((it: { Name: string }) => it.Name === 'silver');
    assert.equal(plan.RateLimit, 100);
    await page.goto(`${portal.app().url.portal}/admin/catalogues/1`);
    await page.getByRole('button', { name: 'Add Listed product' }).click();
    await page.getByText('There are products but no plans').waitFor();
    await page.getByRole('button', { name: 'Add silver', exact: true }).click();
    await page.getByRole('button', { name: 'Save catalogue' }).click();
    await page.getByText('Public Catalogue was saved').waitFor();
    const { Products, Plans } = await read('/catalogues/1');
    assert.deepEqual([Products.includes(listed.Name), Plans], [true, ['silver']]);
    await page.getByRole('button', { name: 'Remove silver', exact: true }).click();
    await page.getByRole('button', { name: 'Save catalogue' }).click();
    await page.getByText('Unsaved changes').waitFor({ state: 'hidden' });
    assert.deepEqual((await read('/catalogues/1')).Plans, []);
  });

  test('credentials of all apps are searched on the server, their owners notified, and one is revoked', async () => {
    const one = await addAccessRequest(portal.app());
    const other = await addAccessRequest(portal.app());
    const page = await portal.openAs(admin, '/admin/credentials');
    await page.getByRole('link', { name: one.app.Name }).waitFor();
    await page.getByLabel('State').selectOption('Not used in 90 days');
    await page.waitForURL(/state=unused/);
    await page.getByRole('searchbox', { name: /Search by app/ }).fill(other.app.Name);
    await page.getByRole('link', { name: one.app.Name }).waitFor({ state: 'detached' });
    await page.getByRole('checkbox', { name: new RegExp(other.app.Name) }).check();
    await page.getByRole('button', { name: 'Notify owners', exact: true }).click();
    const notice = page.getByRole('dialog', { name: 'Notify owners of credentials' });
    await notice.getByRole('button', { name: 'Notify owners' }).click();
    await notice.getByText(new RegExp(`does not expire soon: ${other.app.Name}`)).waitFor();
    await notice.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page.getByRole('button', { name: 'Clear selection' }).click();
    await page.getByRole('button', { name: 'Notify owners of all that match' }).click();
    await notice.getByLabel('Headline of a note').fill('Is this key needed?');
    await notice.getByRole('button', { name: 'Notify owners' }).click();
    await notice.getByText('1 owner was notified').waitFor();
    await notice.getByRole('button', { name: 'Close', exact: true }).last().click();
    await page
      .getByRole('row', { name: new RegExp(other.app.Name) })
      .getByRole('button', { name: /Actions|More|Menu/i })
      .click();
    await page.getByRole('menuitem', { name: 'Revoke' }).click();
    await page.getByRole('checkbox', { name: /I understand/ }).check();
    await page.getByRole('button', { name: `Revoke credential of ${other.app.Name}` }).click();
    await page.getByText(`The credential of ${other.app.Name} was revoked`).waitFor();
    const path = `/portal-api/apps/${other.app.ID}/access-requests/${other.requestId}/credentials`;
    assert.deepEqual(await requestPortal(portal.app(), 'GET', path), []);
  });
});
