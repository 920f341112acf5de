import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPublicId } from '#base/ids.ts';
import { onEveryEngine, operatorActor } from '../../../tests/support/app.ts';
import { makeCertificate } from '../../../tests/support/certificates.ts';
import { removeDependencies } from './dependencies.ts';

onEveryEngine(
  'certificate dependencies',
  app => {
    const ask = (method: string, path: string, body?: unknown, credential?: string) =>
      app().ask(method, path, { ...(body === undefined ? {} : { body }), ...(credential ? { credential } : {}) });
    const upload = async () => {
      const { certPem, keyPem } = makeCertificate({ cn: createPublicId() });
      return (await ask('POST', '/api/certs', certPem + keyPem)).body.id as string;
    };
    const target_url = 'http://127.0.0.1:9/';
    const createClassic = async (more: object, transport: object = {}) => {
      const name = `c${createPublicId()}`;
      const proxy = { listen_path: `/${name}/`, target_url, transport };
      const { body, text } = await ask('POST', '/api/apis', { api_definition: { name, proxy, ...more } });
      assert.ok(body.ID, text);
      return body.ID as string;
    };
    const createDocument = async (server: object, upstream: object) => {
      const id = `d${createPublicId()}`;
      const listenPath = { value: `/${id}/`, strip: true };
      const gateway = {
        info: { id, name: id },
        server: { listenPath, ...server },
        upstream: { url: target_url, ...upstream },
      };
      const document = { openapi: '3.0.3', info: { title: id, version: '1' }, paths: {}, 'x-gw-api-gateway': gateway };
      assert.equal((await ask('POST', '/api/apis/oas', document)).status, 200);
      return id;
    };
    /** APIs and keys that use a certificate in every place, and one that does not. */
    async function using(certId: string) {
      const other = await upload();
      const classic = await createClassic(
        {
          use_mutual_tls_auth: true,
          client_certificates: [certId, other],
          upstream_certificates: { '*': certId, 'a.example': other },
          certificates: [certId],
          domain: `${createPublicId()}.example`,
        },
        { ssl_ca_certificates: [other, certId] },
      );
      const document = await createDocument(
        {
          clientCertificates: { enabled: true, allowlist: [certId] },
          customDomain: { enabled: true, name: `${createPublicId()}.example`, certificates: [certId, other] },
        },
        {
          mutualTLS: { enabled: true, domainToCertificateMapping: [{ domain: '*', certificate: certId }] },
          tlsTransport: { caCertificates: [certId] },
        },
      );
      const unrelated = await createClassic({ client_certificates: [other], use_mutual_tls_auth: true });
      const access_rights = { [classic]: { api_id: classic } };
      const bound = (await ask('POST', '/api/keys', { access_rights, certificate: certId })).body;
      const pinned = await ask('POST', '/api/keys', {
        access_rights,
        mtls_static_certificate_bindings: [certId, other],
      });
      const free = (await ask('POST', '/api/keys', { access_rights, mtls_static_certificate_bindings: [other] })).body;
      return { other, classic, document, unrelated, bound, pinned: pinned.body, free };
    }

    test('APIs that use a certificate are listed with their roles, and keys with their hash', async () => {
      const certId = await upload();
      const empty = (await ask('GET', `/api/certs/${certId}/apis`)).body;
      assert.deepEqual(empty, { cert_id: certId, apis: [], pages: 1 });
      const { classic, document, bound } = await using(certId);
      const { apis, pages } = (await ask('GET', `/api/certs/${certId}/apis?p=-1`)).body;
      const usage_type = ['client', 'upstream', 'server'];
      const nameOf = async (id: string) => (await ask('GET', `/api/apis/${id}`)).body.api_definition.name;
      assert.deepEqual(apis, [
        { api_id: classic, name: await nameOf(classic), usage_type, gw_api_type: 'Gw Classic' },
        { api_id: document, name: document, usage_type, gw_api_type: 'Gw OAS' },
      ]);
      assert.equal(pages, 1);
      assert.deepEqual((await ask('GET', `/api/certs/${certId}/apis?p=2`)).body.apis, []);
      const { certID, client_cert_apis, upstream_cert_api_names, server_cert_apis, key_cert } = (
        await ask('GET', `/api/certs/dependencies/${certId}`)
      ).body;
      const both = [classic, document];
      assert.deepEqual([certID, client_cert_apis, server_cert_apis], [certId, both, both]);
      assert.deepEqual(upstream_cert_api_names, [await nameOf(classic), document]);
      assert.equal(key_cert, bound.key_hash);
    });

    test('removing the dependencies takes the certificate out of APIs and deletes bound keys', async () => {
      const certId = await upload();
      const { other, classic, document, unrelated, bound, pinned, free } = await using(certId);
      const removed = await ask('DELETE', `/api/certs/dependencies/${certId}`);
      assert.deepEqual([removed.status, removed.body.Status], [200, 'OK'], removed.text);
      const { api_definition } = (await ask('GET', `/api/apis/${classic}`)).body;
      assert.deepEqual(api_definition.client_certificates, [other]);
      assert.deepEqual(api_definition.upstream_certificates, { 'a.example': other });
      assert.deepEqual(api_definition.certificates, []);
      assert.deepEqual(api_definition.proxy.transport.ssl_ca_certificates, [other]);
      const { server, upstream } = (await ask('GET', `/api/apis/oas/${document}`)).body['x-gw-api-gateway'];
      assert.deepEqual(server.clientCertificates, { enabled: true, allowlist: [] });
      assert.deepEqual(server.customDomain.certificates, [other]);
      assert.deepEqual(upstream.mutualTLS.domainToCertificateMapping, []);
      assert.deepEqual(upstream.tlsTransport.caCertificates, []);
      assert.deepEqual((await ask('GET', `/api/certs/${certId}/apis`)).body.apis, []);
      assert.equal((await ask('GET', `/api/certs/${other}/apis`)).body.apis.length, 3);
      assert.ok(unrelated);
      for (const [{ key_id }, status] of [
        [bound, 404],
        [pinned, 404],
        [free, 200],
      ] as const)
        assert.equal((await ask('GET', `/api/keys/${key_id}`)).status, status);
      assert.equal((await ask('GET', `/api/certs/${certId}`)).status, 200);
    });

    test('certificates of other organisations, and unknown ones, are not found', async () => {
      const certId = await upload();
      const { accessKey } = await app().stranger();
      for (const [id, credential] of [
        [certId, accessKey],
        ['nothing', undefined],
      ] as const)
        for (const [method, path] of [
          ['GET', `/api/certs/${id}/apis`],
          ['GET', `/api/certs/dependencies/${id}`],
          ['DELETE', `/api/certs/dependencies/${id}`],
        ] as const)
          assert.equal((await ask(method, path, undefined, credential)).status, 404, path);
    });

    test('a user who does not own an API cannot take a certificate out of it, nor purge it as a version', async () => {
      const certId = await upload();
      const { classic, document } = await using(certId);
      const version = await createDocument({}, {});
      const query = `?base_api_id=${document}&base_api_version_name=v1&new_version_name=v2`;
      const read = async (id: string) => (await ask('GET', `/api/apis/oas/${id}`)).body;
      const next = { ...(await read(version)) };
      await ask('DELETE', `/api/apis/oas/${version}`);
      assert.equal((await ask('POST', `/api/apis/oas${query}`, next)).status, 200);
      await ask('PUT', `/api/apis/${classic}/access`, { userIds: ['another'] });
      await ask('PUT', `/api/apis/${version}/access`, { userIds: ['another'] });
      const user = {
        email_address: `${createPublicId()}@example.org`,
        first_name: 'O',
        last_name: 'W',
        active: true,
        org_id: app().credentials.organisation_id,
        user_permissions: { certs: 'write', apis: 'write' },
      };
      const credential = (await ask('POST', '/admin/users', user)).body.Message;
      const before = await read(document);
      const refused = await ask('DELETE', `/api/certs/dependencies/${certId}`, undefined, credential);
      assert.equal(refused.status, 403, refused.text);
      assert.equal((await ask('DELETE', `/api/apis/oas/${document}?purge=true`, undefined, credential)).status, 403);
      assert.deepEqual(await read(document), before);
      assert.ok((await read(version)).openapi);
      assert.equal((await ask('GET', `/api/certs/${certId}/apis`, undefined, credential)).body.apis.length, 2);
    });

    test('a key that is bound just before the transaction begins is removed too', async () => {
      const certId = await upload();
      const { classic } = await using(certId);
      const { services } = app().application.installation;
      const access_rights = { [classic]: { api_id: classic } };
      const binding = { access_rights, mtls_static_certificate_bindings: [certId] };
      let late: string | undefined;
      const records = Object.create(services.records, {
        write: {
          async value(work: () => Promise<unknown>) {
            if (late === undefined) late = (await ask('POST', '/api/keys', binding)).body.key_hash ?? '';
            return services.records.write(work);
          },
        },
      }) as typeof services.records;
      const actor = { ...operatorActor, orgId: app().credentials.organisation_id };
      await removeDependencies({ ...services, records }, actor, certId);
      assert.ok(late);
      assert.equal((await ask('GET', `/api/certs/dependencies/${certId}`)).body.key_cert, '');
    });

    test('a certificate with more keys than one request removes: the first is named, the removal refused', async () => {
      const certId = await upload();
      const { bound } = await using(certId);
      const { db } = app().application.installation.services.records;
      const row = await db
        .selectFrom('keys')
        .selectAll()
        .where('key_hash', '=', bound.key_hash)
        .executeTakeFirstOrThrow();
      const copies = Array.from({ length: 10_000 }, (_, i) => {
        const text = `${row.id}-${i}`;
        return { ...row, id: text, digest: text, key_hash: text };
      });
      for (let at = 0; at < copies.length; at += 1000)
        await db
          .insertInto('keys')
          .values(copies.slice(at, at + 1000))
          .execute();
      const found = await ask('GET', `/api/certs/dependencies/${certId}`);
      assert.deepEqual([found.status, found.body.key_cert], [200, bound.key_hash], found.text);
      const refused = await ask('DELETE', `/api/certs/dependencies/${certId}`);
      assert.equal(refused.status, 409, refused.text);
      assert.equal(refused.body.Message, 'More than 10000 keys mention the certificate: delete keys first');
      assert.equal((await ask('GET', `/api/certs/${certId}/apis`)).body.apis.length, 2);
    });
  },
  { settings: { 'apis.owners_only': 'true' } },
);
