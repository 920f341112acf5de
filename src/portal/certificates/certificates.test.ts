import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { type MadeCertificate, makeCertificate, makeClientCertificate } from '../../../tests/support/certificates.ts';
import {
  addAccessRequest,
  addApi,
  addApp,
  addDeveloper,
  addPlan,
  addProduct,
  requestPortal,
} from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { createTlsGateway } from '../../../tests/support/tls-gateway.ts';
import { waitUntilApplied } from '../../../tests/support/traffic.ts';
import { eventually, startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';
import { checkoutPath } from '../site/page.ts';
import { maxAssignedCertificates } from './assigned.ts';
import { maxBoundCertificates } from './attachment.ts';
import { maxPemChars } from './client-certificate.ts';

const gateway = createTlsGateway();
after(gateway.remove);
const aClient = (cn: string) => makeClientCertificate(gateway.authority, cn);

onEveryEngine(
  'Client certificates of portal apps',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    const ask = (method: string, path: string, body?: unknown, status?: number) =>
      requestPortal(app(), method, `/portal-api${path}`, body, status);
    /** A product whose API requires a key and a client certificate. */
    async function aSecured(more: object = {}) {
      const name = `api-${createPublicId()}`;
      const APIID = await addApi(app(), name, {
        proxy: { listen_path: `/${name}/`, target_url: upstream.url, strip_listen_path: true },
        use_mutual_tls_auth: true,
        ...more,
      });
      const product = await addProduct(app(), { APIDetails: [{ APIID }] });
      return { product: product.ID as number, APIID, path: `/${name}/` };
    }
    async function provision(products: readonly number[], more: object, owner?: { ID: number }) {
      const plan = await addPlan(app());
      const { ID } = owner ?? (await addApp(app()));
      const body = { PlanID: plan.ID, ProductIDs: products, ProvisionImmediately: true, ...more };
      const { AccessRequestID } = await ask('PUT', `/apps/${ID}/provision`, body);
      const path = `/apps/${ID}/access-requests/${AccessRequestID}`;
      const [credential] = await ask('GET', `${path}/credentials`);
      return { appId: ID, requestId: AccessRequestID as number, path, credential, ...paths(path, credential?.ID) };
    }
    const paths = (path: string, id: number) => ({ certificates: `${path}/credentials/${id}/certificates` });
    const statusOf = async (path: string, client?: MadeCertificate, key?: string) => {
      await waitUntilApplied(app());
      return gateway.call(app().url.gateway + path, client, key === undefined ? {} : { authorization: key });
    };
    const listedIn = async (APIID: string): Promise<string[]> =>
      (await app().ask('GET', `/api/apis/${APIID}`)).body.api_definition.client_certificates ?? [];
    const isStored = async ({ fingerprint }: MadeCertificate) =>
      ((await app().ask('GET', `/api/certs?q=${fingerprint}`)).body.certs ?? []).length > 0;

    test('a key is accepted with its certificate alone; detaching ends the access, and attaching restores it', async () => {
      const { product, path } = await aSecured();
      const [own, foreign, unknown] = [aClient('own'), aClient('foreign'), aClient('unknown')];
      const one = await provision([product], { Certificate: own.certPem });
      const other = await provision([product], { Certificate: foreign.certPem, CertificateName: 'Theirs' });
      const { Credential: key } = one.credential;
      assert.equal((await ask('GET', `/access_requests/${one.requestId}`)).AuthType, 'multiAuth');
      assert.equal(await statusOf(path, own, key), 200);
      assert.equal(await statusOf(path, own), 401);
      assert.equal(await statusOf(path, undefined, key), 403);
      assert.equal(await statusOf(path, unknown, key), 403);
      assert.equal(await statusOf(path, foreign, key), 401);
      assert.equal(await statusOf(path, foreign, other.credential.Credential), 200);
      const [listed] = await ask('GET', `/apps/${other.appId}/certificates`);
      assert.deepEqual(
        [listed.Name, listed.Subject, listed.Issuer, listed.State, listed.Credentials],
        ['Theirs', 'foreign', 'Test authority', 'valid', [other.credential.ID]],
      );
      const [{ ID }] = one.credential.Certificates;
      await ask('DELETE', `${one.certificates}/${ID}`);
      assert.equal(await statusOf(path, own, key), 403);
      assert.equal(await statusOf(path, foreign, key), 403);
      assert.equal(await isStored(own), false);
      await ask('POST', one.certificates, { CertificateID: ID });
      assert.equal(await statusOf(path, own, key), 200);
    });

    test('a certificate is replaced without an interruption, also while the key rotates', async () => {
      const { product, path } = await aSecured();
      const [old, next] = [aClient('old'), aClient('next')];
      const { credential, certificates, path: request } = await provision([product], { Certificate: old.certPem });
      await ask('PUT', `${request}/credentials/${credential.ID}/rotate?overlap_seconds=600`);
      const [{ Credential: rotated }] = await ask('GET', `${request}/credentials`);
      await ask('POST', certificates, { Certificate: next.certPem });
      for (const client of [old, next])
        for (const key of [credential.Credential, rotated]) assert.equal(await statusOf(path, client, key), 200);
      const [bound] = await ask('GET', `${request}/credentials`);
      assert.deepEqual(
        bound.Certificates.map((it: { State: string }) => it.State),
        ['attached', 'attached'],
      );
      await ask('DELETE', `${certificates}/${bound.Certificates[0].ID}`);
      assert.equal(await statusOf(path, old, rotated), 403);
      assert.equal(await statusOf(path, next, rotated), 200);
      assert.equal(await statusOf(path, next, credential.Credential), 200);
    });

    test('a certificate alone is the credential of an API without keys', async () => {
      const { product, path } = await aSecured({ use_standard_auth: false, use_keyless: true });
      const own = aClient('alone');
      const { credential, path: request, requestId } = await provision([product], { Certificate: own.certPem });
      assert.equal((await ask('GET', `/access_requests/${requestId}`)).AuthType, 'mutualTLS');
      assert.equal(await statusOf(path, own), 200);
      assert.equal(await statusOf(path, aClient('another')), 403);
      await ask('DELETE', `${request}/credentials/${credential.ID}`);
      assert.equal(await statusOf(path, own), 403);
    });

    test('a shared certificate stays listed until its last credential ends; one of the provider stays stored', async () => {
      const { product, APIID, path } = await aSecured();
      const [shared, uploaded] = [aClient('shared'), aClient('uploaded')];
      const one = await provision([product], { Certificate: shared.certPem });
      const two = await provision([product], { Certificate: shared.certPem });
      await ask('DELETE', `/apps/${one.appId}`);
      assert.equal(await statusOf(path, shared, two.credential.Credential), 200);
      await ask('DELETE', two.path);
      assert.deepEqual([await listedIn(APIID), await isStored(shared)], [[], false]);
      assert.equal((await app().ask('POST', '/api/certs', { body: uploaded.certPem })).status, 200);
      const three = await provision([product], { Certificate: uploaded.certPem });
      assert.equal((await listedIn(APIID)).length, 1);
      await ask('DELETE', `${three.path}/credentials/${three.credential.ID}`);
      assert.deepEqual([await listedIn(APIID), await isStored(uploaded)], [[], true]);
    });

    test('a change of products changes the allow lists in which the certificate is', async () => {
      const [first, second] = [await aSecured(), await aSecured()];
      const own = aClient('both');
      const { credential, path } = await provision([first.product], { Certificate: own.certPem });
      const change = (ProductIDs: readonly number[]) =>
        ask('PUT', `${path}/change`, { ProductIDs, ProvisionImmediately: true });
      assert.equal(await statusOf(second.path, own, credential.Credential), 403);
      await change([first.product, second.product]);
      for (const it of [first, second]) assert.equal(await statusOf(it.path, own, credential.Credential), 200);
      await change([second.product]);
      assert.equal(await statusOf(second.path, own, credential.Credential), 200);
      await eventually(async () => assert.deepEqual(await listedIn(first.APIID), []));
    });

    test('an API that leaves a product, or goes with it, accepts the certificates of its credentials no more', async () => {
      const alone = { use_standard_auth: false, use_keyless: true };
      const [first, second] = [await aSecured(alone), await aSecured(alone)];
      const own = aClient('product');
      await provision([first.product], { Certificate: own.certPem });
      const setApis = (...ids: readonly string[]) =>
        ask('PUT', `/products/${first.product}`, { APIDetails: ids.map(APIID => ({ APIID })) });
      const expect = (statuses: readonly number[]) =>
        eventually(async () =>
          assert.deepEqual([await statusOf(first.path, own), await statusOf(second.path, own)], statuses),
        );
      await expect([200, 403]);
      await setApis(first.APIID, second.APIID);
      await expect([200, 200]);
      await setApis(second.APIID);
      await expect([403, 200]);
      await ask('DELETE', `/products/${first.product}`);
      await expect([403, 403]);
    });

    test('an API that leaves the policy of a product accepts its certificates no more after a synchronisation', async () => {
      const { product, APIID, path } = await aSecured({ use_standard_auth: false, use_keyless: true });
      const own = aClient('synchronised');
      await provision([product], { Certificate: own.certPem });
      assert.equal(await statusOf(path, own), 200);
      const { ReferenceID } = await ask('GET', `/products/${product}`);
      const { body: policy } = await app().ask('GET', `/api/portal/policies/${ReferenceID}`);
      delete policy.access_rights[APIID];
      const other = await addApi(app());
      policy.access_rights[other] = { api_id: other, api_name: other, versions: ['Default'] };
      assert.equal((await app().ask('PUT', `/api/portal/policies/${ReferenceID}`, { body: policy })).status, 200);
      await ask('PUT', '/providers/1/synchronize');
      await eventually(async () => assert.equal(await statusOf(path, own), 403));
    });

    test('a certificate that an administrator of the gateway has listed is refused, and stays listed', async () => {
      const { product, APIID, path } = await aSecured();
      const [own, theirs] = [aClient('own'), aClient('theirs')];
      const { id } = (await app().ask('POST', '/api/certs', { body: theirs.certPem })).body;
      const { api_definition } = (await app().ask('GET', `/api/apis/${APIID}`)).body;
      const body = { api_definition: { ...api_definition, client_certificates: [id] } };
      assert.equal((await app().ask('PUT', `/api/apis/${APIID}`, { body })).status, 200);
      const { certificates, credential } = await provision([product], { Certificate: own.certPem });
      const refusal = /^Certificate: is in the allow list of the API api-\w+ already, without the portal/;
      const attached = await ask('POST', certificates, { Certificate: theirs.certPem }, 422);
      assert.match(attached.errors[0], refusal);
      const owner = await addApp(app());
      const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product], Certificate: theirs.certPem };
      const { AccessRequestID } = await ask('PUT', `/apps/${owner.ID}/provision`, wanted);
      const approved = await ask('PUT', `/access_requests/${AccessRequestID}/approve`, undefined, 422);
      assert.match(approved.errors[0], refusal);
      const pending = await ask('GET', `/access_requests/${AccessRequestID}`);
      assert.deepEqual([pending.Status, pending.Failure], ['pending', approved.errors[0]]);
      await ask('DELETE', `/access_requests/${AccessRequestID}`);
      assert.equal(await statusOf(path, own, credential.Credential), 200);
      assert.ok((await listedIn(APIID)).includes(id));
    });

    test('a certificate with a private key, of an authority, expired or unreadable is refused and nothing is stored', async () => {
      const { product, APIID } = await aSecured();
      const owner = await addApp(app());
      const plan = await addPlan(app());
      const own = aClient('refused');
      const past = new Date('2021-01-01T00:00:00Z');
      const cases: readonly (readonly [Certificate: string | undefined, reason: RegExp])[] = [
        [undefined, /^Certificate: is required/],
        [own.certPem + own.keyPem, /^Certificate: has a private key, which was not stored/],
        [gateway.authority.certPem, /^Certificate: is that of an authority/],
        [makeCertificate({ cn: 'old', notAfter: past }).certPem, /^Certificate: certificate is expired/],
        [own.publicKeyPem, /^Certificate: is a public key/],
        ['nothing', /^Certificate: Failed to decode certificate/],
        ['x'.repeat(maxPemChars + 1), /^Certificate: /],
      ];
      const body = { PlanID: plan.ID, ProductIDs: [product], ProvisionImmediately: true };
      for (const [Certificate, reason] of cases) {
        const { errors } = await ask('PUT', `/apps/${owner.ID}/provision`, { ...body, Certificate }, 422);
        assert.match(errors[0], reason);
      }
      const other = await provision([product], { Certificate: own.certPem });
      const [{ ID: CertificateID }] = other.credential.Certificates;
      const foreign = await ask('PUT', `/apps/${owner.ID}/provision`, { ...body, CertificateID }, 422);
      assert.match(foreign.errors[0], /^CertificateID: the app has no certificate/);
      assert.deepEqual(await ask('GET', `/apps/${owner.ID}/certificates`), []);
      assert.deepEqual(await ask('GET', `/apps/${owner.ID}`).then(it => it.AccessRequests), []);
      assert.equal((await listedIn(APIID)).length, 1);
      const plain = await addProduct(app());
      const unneeded = { ...body, ProductIDs: [plain.ID], Certificate: own.certPem };
      const { errors } = await ask('PUT', `/apps/${owner.ID}/provision`, unneeded, 422);
      assert.equal(errors[0], 'Certificate: the products require no client certificate');
    });

    test('certificates are attached once, within a bound, and deleted while nothing uses them', async () => {
      const { product } = await aSecured();
      const { appId, credential, certificates } = await provision([product], { Certificate: aClient('a').certPem });
      const [{ ID }] = credential.Certificates;
      const attach = (body: object, expected: Parameters<typeof expectProblem>[2], path = certificates) =>
        expectProblem(app(), 'attachCredentialCertificate', expected, `/portal-api${path}`, { body });
      await attach({ CertificateID: ID }, problem.certificate_attached);
      const plain = await addAccessRequest(app());
      const [unbound] = await ask('GET', `/apps/${plain.app.ID}/access-requests/${plain.requestId}/credentials`);
      const ofPlain = paths(`/apps/${plain.app.ID}/access-requests/${plain.requestId}`, unbound.ID).certificates;
      await attach({ Certificate: aClient('b').certPem }, problem.certificate_unused, ofPlain);
      await attach({ CertificateID: ID }, problem.unknown, ofPlain.replace(/\d+\/certificates/, '999999/certificates'));
      for (let place = 1; place < maxBoundCertificates; place++)
        await ask('POST', certificates, { Certificate: aClient(`more ${place}`).certPem });
      await attach({ Certificate: aClient('last').certPem }, problem.too_many_bound);
      const remove = (id: number, expected: Parameters<typeof expectProblem>[2], owner = appId) =>
        expectProblem(app(), 'deleteAppCertificate', expected, `/portal-api/apps/${owner}/certificates/${id}`);
      await remove(ID, problem.certificate_in_use);
      await remove(ID, problem.not_found, plain.app.ID);
      const missing = `/portal-api${certificates}/999999`;
      await expectProblem(app(), 'detachCredentialCertificate', problem.not_found, missing);
      const unknown = '/portal-api/apps/999999/certificates';
      await expectProblem(app(), 'listAppCertificates', problem.not_found, unknown);
      await ask('DELETE', `${certificates}/${ID}`);
      await ask('DELETE', `/apps/${appId}/certificates/${ID}`);
      assert.equal((await ask('GET', `/apps/${appId}/certificates`)).length, maxBoundCertificates - 1);
    });

    test('requests of an organisation use the certificate that is assigned to it, and bind it at the approval', async () => {
      const { product, path } = await aSecured();
      const [assigned, other] = [aClient('assigned'), aClient('other')];
      const organisation = await ask('POST', '/organisations', { Name: `o-${createPublicId()}` });
      const list = `/organisations/${organisation.ID}/certificates`;
      const { ID, ...view } = await ask('POST', list, { Certificate: assigned.certPem, CertificateName: 'Ours' }, 201);
      assert.deepEqual(
        [view.Name, view.Fingerprint, view.State, view.OrganisationID, view.Credentials],
        ['Ours', assigned.fingerprint, 'valid', organisation.ID, []],
      );
      const owner = await addApp(app(), {
        UserID: (await addDeveloper(app(), { OrganisationID: organisation.ID })).ID,
      });
      const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product] };
      const { AccessRequestID } = await ask('PUT', `/apps/${owner.ID}/provision`, wanted);
      const withdraw = (expected: Parameters<typeof expectProblem>[2], id = ID) =>
        expectProblem(app(), 'withdrawOrganisationCertificate', expected, `/portal-api${list}/${id}`);
      await withdraw(problem.assigned_certificate_in_use);
      await ask('PUT', `/access_requests/${AccessRequestID}/approve`);
      const request = `/apps/${owner.ID}/access-requests/${AccessRequestID}`;
      const [{ Credential: key, ID: credentialId }] = await ask('GET', `${request}/credentials`);
      assert.equal(await statusOf(path, assigned, key), 200);
      assert.equal(await statusOf(path, other, key), 403);
      assert.deepEqual((await ask('GET', list))[0].Credentials, [credentialId]);
      await withdraw(problem.assigned_certificate_in_use);
      await withdraw(problem.not_found, 999_999);
      await ask('DELETE', `${request}/credentials/${credentialId}`);
      await ask('DELETE', `${list}/${ID}`);
      assert.deepEqual(await ask('GET', list), []);
      const { errors } = await ask('PUT', `/apps/${owner.ID}/provision`, wanted, 422);
      assert.match(errors[0], /^Certificate: is required/);
    });

    test('of several assigned certificates the valid one with the latest end is used; an expired one alone is refused', async () => {
      const { product } = await aSecured();
      const [early, late] = [aClient('early'), aClient('late')];
      const organisation = await ask('POST', '/organisations', { Name: `o-${createPublicId()}` });
      const list = `/organisations/${organisation.ID}/certificates`;
      const path = `/portal-api${list}`;
      const owner = await addApp(app(), {
        UserID: (await addDeveloper(app(), { OrganisationID: organisation.ID })).ID,
      });
      const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product], ProvisionImmediately: true };
      const { organisationCertificates } = app().application.installation.services.portal;
      const { ID: _id, ...first } = await organisationCertificates.insert({
        ...{
          OrganisationID: organisation.ID,
          Name: 'past',
          Fingerprint: 'past',
          Subject: '',
          Issuer: '',
          NotBefore: 0,
        },
        ...{ NotAfter: 1, PEM: makeCertificate({ cn: 'past', notAfter: new Date(1) }).certPem, CreatedAt: 0 },
      });
      const refused = await ask('PUT', `/apps/${owner.ID}/provision`, wanted, 422);
      assert.match(refused.errors[0], /^Certificate: certificate is expired/);
      await ask('POST', list, { Certificate: early.certPem }, 201);
      const latest = await ask('POST', list, { Certificate: late.certPem }, 201);
      const stored = (await organisationCertificates.get(latest.ID))!;
      await organisationCertificates.remove(latest.ID);
      await organisationCertificates.insert({ ...stored, NotAfter: stored.NotAfter + 86_400_000 });
      await ask('PUT', `/apps/${owner.ID}/provision`, wanted);
      assert.equal((await ask('GET', `/apps/${owner.ID}/certificates`))[0].Fingerprint, late.fingerprint);
      const again = await ask('POST', list, { Certificate: late.certPem }, 422);
      assert.equal(again.errors[0], 'Certificate: is assigned to the organisation already');
      const both = late.certPem + late.keyPem;
      assert.match((await ask('POST', list, { Certificate: both }, 422)).errors[0], /^Certificate: has a private key/);
      for (let count = (await ask('GET', list)).length; count < maxAssignedCertificates; count++)
        await organisationCertificates.insert({ ...first, Fingerprint: `f${count}` });
      const beyond = await ask('POST', list, { Certificate: aClient('beyond').certPem }, 422);
      assert.match(beyond.errors[0], /^Certificate: the organisation has \d+, the maximum/);
      await ask('DELETE', `/organisations/${organisation.ID}`);
      assert.deepEqual(await organisationCertificates.ofOrganisation(organisation.ID), []);
      await expectProblem(app(), 'listOrganisationCertificates', problem.not_found, path);
      const body = { Certificate: early.certPem };
      await expectProblem(app(), 'assignOrganisationCertificate', problem.unknown, path, { body });
    });

    test('the checkout shows the end of an assigned certificate, and that an expired one has expired', async () => {
      const { APIID } = await aSecured();
      const product = await addProduct(app(), { APIDetails: [{ APIID }], Catalogues: [1] });
      const plan = await addPlan(app(), { Catalogues: [1] });
      const organisation = await ask('POST', '/organisations', { Name: `o-${createPublicId()}` });
      const list = `/organisations/${organisation.ID}/certificates`;
      const { ID } = await ask('POST', list, { Certificate: aClient('ending').certPem }, 201);
      const user = await addDeveloper(app(), { OrganisationID: organisation.ID, Password: sitePassword });
      const client = await signedInClient(app(), user);
      const read = async () =>
        (await client.get(`${checkoutPath}?product=${product.Path}&plan=${plan.ID}&catalogue=1`)).text;
      assert.match(await read(), /<strong>ending<\/strong>, valid until\s[A-Z]/);
      const { organisationCertificates } = app().application.installation.services.portal;
      const stored = (await organisationCertificates.get(ID))!;
      await organisationCertificates.remove(ID);
      await organisationCertificates.insert({ ...stored, NotAfter: Date.UTC(2021, 1, 3) });
      assert.match(await read(), /<strong>ending<\/strong>, expired on\sFeb 3, 2021\./);
    });

    test('a developer of an organisation with assigned certificates can neither send, attach nor detach one', async () => {
      const { product } = await aSecured();
      const organisation = await ask('POST', '/organisations', { Name: `o-${createPublicId()}` });
      const list = `/organisations/${organisation.ID}/certificates`;
      await ask('POST', list, { Certificate: aClient('managed').certPem }, 201);
      const user = await addDeveloper(app(), { OrganisationID: organisation.ID, Password: sitePassword });
      const owner = await addApp(app(), { UserID: user.ID });
      const { credential, appId, path } = await provision([product], {}, owner);
      const client = await signedInClient(app(), user);
      const page = await client.get(`/portal/private/apps/${appId}`);
      assert.ok(page.text.includes('Client certificates') && !page.text.includes('Attach another certificate'));
      const fields = { client_id: String(appId), cred_id: String(credential.ID) };
      const own = { certificate_file: aClient('smuggled').certPem };
      const { ID } = credential.Certificates[0];
      const refused: Record<string, string>[] = [
        { mode: 'attach', ...own },
        { mode: 'detach', certificate_id: String(ID) },
      ];
      for (const more of refused) {
        const { status, text } = await client.post('/portal/private/credentials', { ...fields, ...more });
        assert.equal(status, 422, text);
        assert.match(text, /administrators of the portal manage the certificates of your organisation/);
      }
      const [{ Certificates }] = await ask('GET', `${path}/credentials`);
      assert.deepEqual(Certificates, credential.Certificates);
    });
  },
  { settings: gateway.settings },
);
