import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { type MadeCertificate, makeCertificate, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { addAccessRequest, addApi, addApp, addPlan, addProduct } from '../../../tests/support/portal.ts';
import { createSecuredProducts } from '../../../tests/support/secured-products.ts';
import { createTlsGateway } from '../../../tests/support/tls-gateway.ts';
import { eventually, startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';
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

    const { ask, addSecured, provision, statusOf } = createSecuredProducts(app, () => upstream, gateway);
    const listedIn = async (APIID: string): Promise<string[]> =>
      (await app().ask('GET', `/api/apis/${APIID}`)).body.api_definition.client_certificates ?? [];
    const isStored = async ({ fingerprint }: MadeCertificate) =>
      ((await app().ask('GET', `/api/certs?q=${fingerprint}`)).body.certs ?? []).length > 0;

    test('a key is accepted with its certificate alone; detaching ends the access, and attaching restores it', async () => {
      const { product, path } = await addSecured();
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
      const { product, path } = await addSecured();
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
      const { product, path } = await addSecured({ use_standard_auth: false, use_keyless: true });
      const own = aClient('alone');
      const { credential, path: request, requestId } = await provision([product], { Certificate: own.certPem });
      assert.equal((await ask('GET', `/access_requests/${requestId}`)).AuthType, 'mutualTLS');
      assert.equal(await statusOf(path, own), 200);
      assert.equal(await statusOf(path, aClient('another')), 403);
      await ask('DELETE', `${request}/credentials/${credential.ID}`);
      assert.equal(await statusOf(path, own), 403);
    });

    test('a shared certificate stays listed until its last credential ends; one of the provider stays stored', async () => {
      const { product, APIID, path } = await addSecured();
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
      const [first, second] = [await addSecured(), await addSecured()];
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
      const [first, second] = [await addSecured(alone), await addSecured(alone)];
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
      const { product, APIID, path } = await addSecured({ use_standard_auth: false, use_keyless: true });
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
      const { product, APIID, path } = await addSecured();
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
      const { product, APIID } = await addSecured();
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
      const { product } = await addSecured();
      const { appId, credential, certificates } = await provision([product], { Certificate: aClient('a').certPem });
      const [{ ID }] = credential.Certificates;
      const attach = (body: object, expected: Parameters<typeof expectProblem>[2], path = certificates) =>
        expectProblem(app(), 'attachCredentialCertificate', expected, `/portal-api${path}`, { body });
      await attach({ CertificateID: ID }, problem.certificate_attached);
      const plain = await addAccessRequest(app());
      const credentials = `/apps/${plain.app.ID}/access-requests/${plain.requestId}/credentials`;
      const [unbound] = await ask('GET', credentials);
      const ofPlain = `${credentials}/${unbound.ID}/certificates`;
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
  },
  { settings: gateway.settings },
);
