import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEveryEngine, type TestApp } from '../../../tests/support/app.ts';
import {
  addAccessRequest,
  addApi,
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  portalTimePattern,
  requestPortal,
} from '../../../tests/support/portal.ts';

const policiesOf = async (app: TestApp, key: string) =>
  (await requestPortal(app, 'GET', `/api/keys/${encodeURIComponent(key)}`)).data;

onEveryEngine('portal apps', app => {
  const ask = (method: string, path: string, body?: unknown) =>
    app().ask(method, `/portal-api${path}`, body === undefined ? {} : { body });
  const keyStatus = async (key: string) => (await app().ask('GET', `/api/keys/${encodeURIComponent(key)}`)).status;

  test('an app gets a working key through a provider, and loses it on removal', async () => {
    const provider = await requestPortal(app(), 'POST', '/portal-api/providers', {
      Name: 'Here',
      Type: 'gw-pro',
      Configuration: { MetaData: JSON.stringify({ OrgID: app().credentials.organisation_id }) },
    });
    const apiId = await addApi(app(), 'story-orders');
    const product = await addProduct(app(), {
      Name: 'story-product',
      ProviderID: provider.ID,
      APIDetails: [{ APIID: apiId }],
    });
    const plan = await addPlan(app(), {
      Name: 'story-plan',
      ProviderID: provider.ID,
      RateLimit: 3,
      Per: 10,
      KeyExpiresIn: 3600,
      MetaData: { tier: 'gold' },
    });
    const catalogue = await requestPortal(app(), 'POST', '/portal-api/catalogues', {
      Name: 'Story shelf',
      NameWithSlug: 'story-shelf',
      VisibilityStatus: 'Public',
      Plans: [plan.ID],
      Products: [product.ID],
    });
    assert.deepEqual([catalogue.Plans, catalogue.Products], [['story-plan'], ['story-product']]);
    const user = await addDeveloper(app());
    const owned = await addApp(app(), { Name: 'Story app', UserID: user.ID });

    const asked = await ask('PUT', `/apps/${owned.ID}/provision`, { PlanID: plan.ID, ProductIDs: [product.ID] });
    assert.equal(asked.body.message, 'Action provision: Executed successfully');
    const requestId = asked.body.AccessRequestID;
    const pending = (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests[0][0];
    assert.deepEqual([pending.Status, pending.Credentials, pending.Catalogue], ['pending', [], 'Story shelf']);

    assert.equal((await ask('PUT', `/access_requests/${requestId}/approve`)).status, 200);
    const approved = (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests[0][0];
    assert.equal(approved.Status, 'approved');
    const credential = approved.Credentials[0];
    const key = await policiesOf(app(), credential.Credential);
    assert.deepEqual(key.apply_policies, [product.ReferenceID, plan.ReferenceID]);
    const enforced = (await requestPortal(app(), 'POST', '/api/keys/preview', { apply_policies: key.apply_policies }))
      .data;
    assert.deepEqual([enforced.access_rights[apiId].limit.rate, enforced.access_rights[apiId].limit.per], [3, 10]);
    assert.deepEqual([...key.tags].sort(), [`portal-app-${owned.ID}`, 'portal-org-1']);
    assert.equal(key.meta_data.tier, 'gold');
    assert.equal(key.meta_data.ApplicationID, String(owned.ID));
    assert.equal(key.meta_data.DeveloperID, String(user.ID));
    assert.ok(key.expires > 0);
    assert.match(credential.Expires, portalTimePattern);
    assert.notEqual(credential.Expires.slice(0, 4), '1970');

    const path = `/apps/${owned.ID}/access-requests/${requestId}/credentials/${credential.ID}`;
    const rotated = await ask('PUT', `${path}/rotate`);
    assert.deepEqual(rotated.body, { status: 'ok', message: 'Action Rotate: Executed successfully' });
    assert.equal(await keyStatus(credential.Credential), 404);
    const fresh = (await ask('GET', path)).body;
    assert.equal(fresh.ID, credential.ID);
    assert.notEqual(fresh.Credential, credential.Credential);
    assert.deepEqual((await policiesOf(app(), fresh.Credential)).apply_policies, key.apply_policies);

    assert.deepEqual((await ask('DELETE', `/apps/${owned.ID}`)).body, { status: 'ok' });
    assert.equal(await keyStatus(fresh.Credential), 404);
    assert.equal((await ask('GET', `/apps/${owned.ID}`)).status, 404);
    assert.equal((await ask('GET', `/access_requests/${requestId}`)).status, 404);
  });

  test('an app is returned with every member of app, access request and credential', async () => {
    const {
      app: owned,
      requestId,
      plan,
      product,
    } = await addAccessRequest(app(), {
      app: { Name: 'Whole', Description: 'All of it', RedirectURLs: 'https://a.example/cb' },
    });
    const { body } = await ask('GET', `/apps/${owned.ID}`);
    assert.deepEqual(Object.keys(body).sort(), [
      'AccessRequests',
      'CreatedAt',
      'Description',
      'ID',
      'Name',
      'RedirectURLs',
      'UpdatedAt',
      'UserID',
      'Visibility',
    ]);
    assert.match(body.CreatedAt, portalTimePattern);
    assert.deepEqual([body.Name, body.Description, body.RedirectURLs], ['Whole', 'All of it', 'https://a.example/cb']);
    assert.equal(body.AccessRequests.length, 1);
    assert.equal(body.AccessRequests[0].length, 1);
    const { Credentials, CreatedAt, UpdatedAt, ...request } = body.AccessRequests[0][0];
    assert.match(CreatedAt, portalTimePattern);
    assert.match(UpdatedAt, portalTimePattern);
    assert.deepEqual(request, {
      ID: requestId,
      AppID: owned.ID,
      UserID: owned.UserID,
      UserEmail: (await ask('GET', `/users/${owned.UserID}`)).body.Email,
      PlanID: plan.ID,
      RequestedPlan: '',
      ProductIDs: [product.ID],
      Catalogue: '',
      Client: 'Whole',
      Plan: plan.Name,
      User: `User#${owned.UserID}`,
      Products: [product.Name],
      AuthType: 'authToken',
      AuthTypes: ['authToken'],
      DCREnabled: false,
      DCRTemplateID: 0,
      CertificateID: 0,
      ProviderID: 1,
      ProvisionImmediately: true,
      Changes: 0,
      Revoked: false,
      Note: '',
      Reason: '',
      Failure: '',
      Status: 'approved',
      DeletedAt: '',
    });
    const { ID, Credential, CredentialHash, Expires, ...rest } = Credentials[0];
    assert.ok(Number.isInteger(ID) && Credential.length > 20 && CredentialHash.length > 0);
    assert.equal(Expires, '9999-12-31 23:59', 'never');
    assert.deepEqual(rest, {
      AccessRequest: `AccessRequest#${requestId}`,
      Certificates: [],
      DCRRegistrationAccessToken: '',
      DCRRegistrationClientURI: '',
      DCRResponse: '',
      GrantType: '',
      JWKSURI: '',
      OAuthClientID: '',
      OAuthClientSecret: '',
      OldCredentialHash: '',
      OldValidUntil: '',
      RedirectURI: '',
      ResponseType: '',
      Scope: '',
      TokenEndpoints: '',
    });
  });

  test('an app without requests has an empty list; integers and booleans may be text', async () => {
    const developer = await addDeveloper(app());
    const owned = await addApp(app(), { UserID: String(developer.ID) });
    assert.equal(owned.UserID, developer.ID);
    assert.deepEqual(owned.AccessRequests, []);
    const product = await addProduct(app());
    const plan = await addPlan(app());
    const body = { PlanID: String(plan.ID), ProductIDs: [String(product.ID)], ProvisionImmediately: 'true' };
    assert.equal((await ask('PUT', `/apps/${owned.ID}/provision`, body)).status, 200);
  });

  test('a returned app can be edited and sent back', async () => {
    const { app: owned } = await addAccessRequest(app());
    const { body } = await ask('GET', `/apps/${owned.ID}`);
    const answer = await ask('PUT', `/apps/${owned.ID}`, { ...body, Name: 'Renamed' });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      { ...answer.body, UpdatedAt: '' },
      {
        ...body,
        Name: 'Renamed',
        UpdatedAt: '',
        AccessRequests: [[{ ...body.AccessRequests[0][0], Client: 'Renamed' }]],
      },
    );
  });

  test('apps of the default organisation are personal; elsewhere visibility is the caller’s choice', async () => {
    assert.equal((await addApp(app(), { Visibility: 'team' })).Visibility, 'personal');
    const organisation = await requestPortal(app(), 'POST', '/portal-api/organisations', { Name: 'Partner' });
    const partner = await addDeveloper(app(), { OrganisationID: organisation.ID });
    assert.equal((await addApp(app(), { UserID: partner.ID })).Visibility, 'organisation');
    assert.equal((await addApp(app(), { UserID: partner.ID, Visibility: 'team' })).Visibility, 'team');
  });

  test('lists have pages, newest first, bounded by limit, without requests or secrets', async () => {
    const names = ['page-1', 'page-2', 'page-3'];
    for (const Name of names) await addApp(app(), { Name });
    const page = async (query: string) =>
      (await ask('GET', `/apps?${query}`)).body.map((it: { Name: string }) => it.Name);
    assert.deepEqual(await page('per_page=2'), ['page-3', 'page-2']);
    assert.equal((await page('per_page=2&page=2'))[0], 'page-1');
    assert.deepEqual(await page('per_page=2&page=1&limit=1'), ['page-3']);
    assert.deepEqual(await page('page=9999'), []);
    const [row] = (await ask('GET', '/apps')).body;
    assert.deepEqual(Object.keys(row).sort(), [
      'CreatedAt',
      'Description',
      'ID',
      'Name',
      'Organisation',
      'Products',
      'RedirectURLs',
      'UserEmail',
      'UserID',
      'Visibility',
    ]);
    const wrong = await ask('GET', '/apps?page=x');
    assert.equal(wrong.status, 422);
    assert.match(wrong.body.errors[0], /^page: /);
  });

  test('a list of apps names the organisation of the owner and the products of access in force', async () => {
    const { Name: product, ID } = await addProduct(app());
    const plan = await addPlan(app());
    const [owned, other] = [
      await addApp(app(), { Name: 'listed-access' }),
      await addApp(app(), { Name: 'listed-none' }),
    ];
    const give = { PlanID: plan.ID, ProductIDs: [ID], ProvisionImmediately: true };
    assert.equal((await ask('PUT', `/apps/${owned.ID}/provision`, give)).status, 200);
    await ask('PUT', `/apps/${other.ID}/provision`, { ...give, ProvisionImmediately: false });
    const list = async () =>
      Object.fromEntries(
        (await ask('GET', '/apps?q=listed-')).body.map((it: Record<string, unknown>) => [
          it.Name,
          [it.Organisation, it.Products],
        ]),
      );
    const organisation = 'Default Organisation';
    assert.deepEqual(await list(), { 'listed-access': [organisation, [product]], 'listed-none': [organisation, []] });
    const [[request]] = (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests;
    const credentials = `/apps/${owned.ID}/access-requests/${request.ID}/credentials`;
    assert.equal((await ask('DELETE', `${credentials}/${request.Credentials[0].ID}`)).status, 200);
    assert.deepEqual((await list())['listed-access'], [organisation, []], 'revoked');
  });

  test('unknown apps are a 404 to read and remove, a 422 to change', async () => {
    for (const id of ['99999999', 'nobody']) {
      assert.deepEqual((await ask('GET', `/apps/${id}`)).body, { status: 'error', errors: ['App not found'] });
      assert.equal((await ask('GET', `/apps/${id}`)).status, 404);
      assert.equal((await ask('DELETE', `/apps/${id}`)).status, 404);
      assert.equal((await ask('PUT', `/apps/${id}`, { Name: 'x' })).status, 422);
      assert.equal((await ask('PUT', `/apps/${id}/provision`, { PlanID: 1, ProductIDs: [1] })).status, 422);
      assert.equal((await ask('GET', `/apps/${id}/access-requests`)).status, 404);
    }
  });

  test('invalid members of an app are refused with the path of every fault', async () => {
    const answer = await ask('POST', '/apps', { Name: 7, UserID: 'me', Visibility: 'all' });
    assert.equal(answer.status, 422);
    const places = answer.body.errors.map((line: string) => line.split(':')[0]).sort();
    assert.deepEqual(places, ['Name', 'UserID', 'Visibility']);
    assert.deepEqual((await ask('POST', '/apps', { Name: 'x', UserID: 987654 })).body.errors, [
      'UserID: there is no user 987654',
    ]);
    const empty = await app().ask('POST', '/portal-api/apps', { body: '' });
    assert.deepEqual([empty.status, empty.body.errors], [422, ['Request body is empty']]);
    assert.equal((await app().ask('POST', '/portal-api/apps', { body: '{' })).status, 422);
  });

  test('an access request needs an existing plan and compatible products', async () => {
    const owned = await addApp(app());
    const plan = await addPlan(app());
    const product = await addProduct(app());
    const provision = async (body: object) => (await ask('PUT', `/apps/${owned.ID}/provision`, body)).body.errors;
    assert.deepEqual(await provision({ PlanID: 999999, ProductIDs: [999998] }), [
      'PlanID: there is no plan 999999',
      'ProductIDs[0]: there is no product 999998',
    ]);
    assert.deepEqual(await provision({ PlanID: plan.ID, ProductIDs: [] }), ['ProductIDs: must name a product']);
    const documents = await requestPortal(
      app(),
      'POST',
      '/portal-api/products',
      { Name: 'docs only', IsDocumentationOnly: true },
      201,
    );
    assert.deepEqual(await provision({ PlanID: plan.ID, ProductIDs: [documents.ID] }), [
      'ProductIDs[0]: the product is documentation only',
    ]);
    const basic = await addApi(app(), 'with-passwords', { use_standard_auth: false, use_basic_auth: true });
    const guarded = await addProduct(app(), { APIDetails: [{ APIID: basic }] });
    assert.deepEqual(await provision({ PlanID: plan.ID, ProductIDs: [guarded.ID] }), [
      'ProductIDs[0]: no key can be made for the authentication ba',
    ]);
    assert.deepEqual(await provision({ PlanID: plan.ID, ProductIDs: [product.ID], Catalogue: 1 }), [
      'Catalogue: does not contain both the plan and the products',
    ]);
    const other = await requestPortal(app(), 'POST', '/portal-api/providers', {
      Name: 'Other',
      Type: 'gw-pro',
      Configuration: { MetaData: '{}' },
    });
    const foreign = await addPlan(app(), { ProviderID: other.ID });
    assert.deepEqual(await provision({ PlanID: foreign.ID, ProductIDs: [product.ID] }), [
      'ProductIDs[0]: the product and the plan have different providers',
    ]);
  });

  test('the quota of a plan counts removed requests, and holds under concurrency', async () => {
    const product = await addProduct(app());
    const plan = await addPlan(app(), { PlanQuota: 2, PlanQuotaRenewalRate: 3600 });
    const developer = await addDeveloper(app());
    const owned = await Promise.all([1, 2, 3, 4, 5].map(() => addApp(app(), { UserID: developer.ID })));
    const body = { PlanID: plan.ID, ProductIDs: [product.ID] };
    const answers = await Promise.all(owned.map(({ ID }) => ask('PUT', `/apps/${ID}/provision`, body)));
    assert.deepEqual(answers.map(it => it.status).sort(), [200, 200, 422, 422, 422]);
    assert.deepEqual(answers.find(it => it.status === 422)?.body, {
      status: 'error',
      errors: ['Plan access quota exceeded'],
    });
    const { AccessRequestID } = answers.find(it => it.status === 200)!.body;
    assert.equal((await ask('DELETE', `/access_requests/${AccessRequestID}`)).status, 200);
    assert.equal((await ask('PUT', `/apps/${owned[0].ID}/provision`, body)).status, 422);
    const another = await addApp(app());
    assert.equal((await ask('PUT', `/apps/${another.ID}/provision`, body)).status, 200);
  });

  test('a plan with automatic approval issues the key at once', async () => {
    const product = await addProduct(app());
    const plan = await addPlan(app(), { AutoApproveAccessRequests: true });
    const owned = await addApp(app());
    await ask('PUT', `/apps/${owned.ID}/provision`, { PlanID: plan.ID, ProductIDs: [product.ID] });
    const [[request]] = (await ask('GET', `/apps/${owned.ID}`)).body.AccessRequests;
    assert.deepEqual([request.Status, request.ProvisionImmediately], ['approved', true]);
    assert.equal(await keyStatus(request.Credentials[0].Credential), 200);
  });
});
