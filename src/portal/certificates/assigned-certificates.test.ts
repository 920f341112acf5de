import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { expectProblem } from '../../../tests/contract/expect-problem.ts';
import { onEveryEngine } from '../../../tests/support/app.ts';
import { makeCertificate, makeClientCertificate } from '../../../tests/support/certificates.ts';
import { addApp, addDeveloper, addPlan, addProduct } from '../../../tests/support/portal.ts';
import { sitePassword } from '../../../tests/support/portal-site.ts';
import { createSecuredProducts } from '../../../tests/support/secured-products.ts';
import { signedInClient } from '../../../tests/support/site-client.ts';
import { createTlsGateway } from '../../../tests/support/tls-gateway.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';
import { problem } from '../problems.ts';
import { checkoutPath } from '../site/page.ts';
import { maxAssignedCertificates } from './assigned-certificates.ts';

const gateway = createTlsGateway();
after(gateway.remove);
const aClient = (cn: string) => makeClientCertificate(gateway.authority, cn);

onEveryEngine(
  'Client certificates that are assigned to organisations of the portal',
  app => {
    let upstream: Upstream;
    before(async () => {
      upstream = await startUpstream();
    });
    after(() => upstream?.close());

    const { ask, addSecured, provision, statusOf } = createSecuredProducts(app, () => upstream, gateway);

    test('requests of an organisation use the certificate that is assigned to it, and bind it at the approval', async () => {
      const { product, path } = await addSecured();
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

    /** An organisation with an assigned certificate, and an app of one of its developers. */
    async function addMember() {
      const { ID: organisation } = await ask('POST', '/organisations', { Name: `o-${createPublicId()}` });
      const list = `/organisations/${organisation}/certificates`;
      const { ID } = await ask('POST', list, { Certificate: aClient('managed').certPem }, 201);
      const user = await addDeveloper(app(), { OrganisationID: organisation });
      return { user, owner: await addApp(app(), { UserID: user.ID }), list, certificate: `${list}/${ID}` };
    }

    test('an assigned certificate is in use by credentials whose developer moves to another organisation', async () => {
      const { product } = await addSecured();
      const { user, owner, list, certificate } = await addMember();
      const { credential, path } = await provision([product], {}, owner);
      await ask('PUT', `/users/${user.ID}`, { OrganisationID: 1 });
      assert.deepEqual((await ask('GET', list))[0].Credentials, [credential.ID]);
      const url = `/portal-api${certificate}`;
      await expectProblem(app(), 'withdrawOrganisationCertificate', problem.assigned_certificate_in_use, url);
      await ask('DELETE', `${path}/credentials/${credential.ID}`);
      await ask('DELETE', certificate);
    });

    test('a certificate that is withdrawn while a request is sent is not used by the request', async () => {
      const { product } = await addSecured();
      const wanted = { PlanID: (await addPlan(app())).ID, ProductIDs: [product] };
      for (let round = 0; round < 5; round++) {
        const { owner, certificate } = await addMember();
        const [requested, withdrawn] = await Promise.all([
          app().ask('PUT', `/portal-api/apps/${owner.ID}/provision`, { body: wanted }),
          app().ask('DELETE', `/portal-api${certificate}`),
        ]);
        const outcome = [requested.status, withdrawn.status].join(' ');
        assert.ok(['200 422', '422 200'].includes(outcome), `${outcome} ${requested.text} ${withdrawn.text}`);
      }
    });

    test('of several assigned certificates the valid one with the latest end is used; an expired one alone is refused', async () => {
      const { product } = await addSecured();
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
      const { APIID } = await addSecured();
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
      const { product } = await addSecured();
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
