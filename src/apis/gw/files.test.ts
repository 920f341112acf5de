import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { stringify } from 'yaml';
import { createPublicId } from '#base/ids.ts';
import { type Asked, onEveryEngine } from '../../../tests/support/app.ts';
import { startUpstream, type Upstream } from '../../../tests/support/upstream.ts';

const refusal = (message: string) => ({ status: 'error', message });
const yaml = { headers: { 'content-type': 'application/yaml' } };

onEveryEngine('gateway API: OpenAPI import and export', app => {
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
  });
  after(() => upstream.close());

  const ask = (method: string, path: string, body?: unknown, more: Asked = {}) =>
    app().ask(method, path, { ...more, ...(body === undefined ? {} : { body }) });
  const plain = (more: object = {}) => ({
    openapi: '3.0.3',
    info: { title: 'Pets', version: '1' },
    servers: [{ url: upstream.url }],
    paths: {
      '/pets': {
        get: {
          parameters: [{ name: 'kind', in: 'query', schema: { type: 'string' } }],
          responses: { 200: { description: 'all', content: { 'application/json': { example: [] } } } },
        },
      },
    },
    ...more,
  });
  const importDocument = async (query: string, body: unknown = plain(), more: Asked = {}) => {
    const answer = await ask('POST', `/gw/apis/oas/import?${query}`, body, more);
    assert.equal(answer.status, 200, answer.text);
    const { key } = answer.body;
    assert.deepEqual(answer.body, { key, status: 'ok', action: 'added' });
    return { key: key as string, document: (await ask('GET', `/gw/apis/oas/${key}`)).body };
  };
  const somewhere = () => `listenPath=/i${createPublicId()}`;

  test('a plain document becomes an API that is live at once', async () => {
    const listenPath = `/i${createPublicId()}`;
    const { key, document } = await importDocument(`listenPath=${listenPath}`);
    assert.match(key, /^[0-9a-f]{32}$/);
    const { info, ...gateway } = document['x-gw-api-gateway'];
    assert.deepEqual(gateway, {
      upstream: { url: upstream.url },
      server: { listenPath: { value: listenPath, strip: true } },
      middleware: { global: { contextVariables: { enabled: true }, trafficLogs: { enabled: true } } },
    });
    assert.deepEqual(info, {
      id: key,
      dbId: info.dbId,
      orgId: app().credentials.organisation_id,
      name: 'Pets',
      state: { active: true, internal: false },
    });
    assert.equal(document.paths['/pets'].get.operationId, 'petsGET');
    const records = (await ask('GET', '/admin/audit-logs?p=-1')).body.audit_logs as {
      object: string;
      org_id: string;
    }[];
    const ofImport = records.filter(({ object }) => object === key);
    assert.deepEqual(
      ofImport.map(({ org_id }) => org_id),
      [app().credentials.organisation_id],
      'the audit record names the API and its organisation',
    );
    await ask('GET', '/gw/reload?block=true');
    assert.equal((await fetch(`${app().url.gateway}${listenPath}/pets`)).status, 200);
  });

  test('an import without a listen path is served at the root', async () => {
    const { key, document } = await importDocument('');
    assert.equal(document['x-gw-api-gateway'].server.listenPath.value, '/');
    await ask('DELETE', `/gw/apis/${key}`);
  });

  test('every import parameter takes effect', async () => {
    const schemes = { key: { type: 'apiKey', in: 'header', name: 'X-Key' } };
    const body = plain({ security: [{ key: [] }], components: { securitySchemes: schemes } });
    const { orgId } = await app().stranger();
    await ask('PUT', `/admin/organisations/${orgId}/grants`, { domains: ['pets.test'] });
    const apiID = `i${createPublicId()}`;
    const query = `apiID=${apiID}&${somewhere()}&customDomain=pets.test&upstreamURL=http://127.0.0.1:9/v1&org_id=${orgId}`;
    const switches = 'allowList=true&validateRequest=1&mockResponse=T&authentication=true';
    const { key, document } = await importDocument(`${query}&${switches}`, body);
    const { info, server, upstream: behind, middleware } = document['x-gw-api-gateway'];
    assert.deepEqual([key, info.id, info.orgId, behind.url], [apiID, apiID, orgId, 'http://127.0.0.1:9/v1']);
    assert.deepEqual(server.customDomain, { enabled: true, name: 'pets.test' });
    assert.deepEqual(server.authentication, { enabled: true, securitySchemes: { key: { enabled: true } } });
    assert.deepEqual(middleware.operations, {
      petsGET: {
        allow: { enabled: true },
        validateRequest: { enabled: true, errorResponseCode: 422 },
        mockResponse: { enabled: true, fromOASExamples: { enabled: true } },
      },
    });
    const compliant = await importDocument(`${somewhere()}&authentication=compliant`, body);
    const { securityProcessingMode } = compliant.document['x-gw-api-gateway'].server.authentication;
    assert.equal(securityProcessingMode, 'compliant');
  });

  test('an imported document may be YAML, and a version of another API', async () => {
    const base = await importDocument(somewhere(), stringify(plain()), yaml);
    const version = `base_api_id=${base.key}&base_api_version_name=v1&new_version_name=v2&set_default=true`;
    const child = await importDocument(`${somewhere()}&${version}`);
    const { versioning } = (await ask('GET', `/gw/apis/oas/${base.key}`)).body['x-gw-api-gateway'].info;
    assert.deepEqual([versioning.versions, versioning.default], [[{ name: 'v2', id: child.key }], 'v2']);
  });

  test('an imported document may be an uploaded file, in either notation', async () => {
    const form = (file: string, name: string) => {
      const boundary = 'between-the-parts';
      const head = `Content-Disposition: form-data; name="file"; filename="${name}"`;
      const body = `--${boundary}\r\n${head}\r\n\r\n${file}\r\n--${boundary}--\r\n`;
      return [body, { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }] as const;
    };
    const { key: json } = await importDocument(somewhere(), ...form(JSON.stringify(plain()), 'pets.json'));
    const { document } = await importDocument(somewhere(), ...form(stringify(plain()), 'pets.yaml'));
    assert.ok(json);
    assert.equal(document.info.title, 'Pets');
    const [empty, headers] = form('', 'pets.json');
    const path = `/gw/apis/oas/import?${somewhere()}`;
    assert.equal((await ask('POST', path, empty, headers)).status, 400);
    const without = await ask('POST', path, empty.replace('; filename="pets.json"', ''), headers);
    assert.deepEqual([without.status, without.body], [400, refusal('Request body malformed: the form holds no file')]);
  });

  test('a document whose content type names no notation is read by its first character', async () => {
    const json = { headers: { 'content-type': 'application/json' } };
    for (const text of [stringify(plain()), JSON.stringify(plain())]) {
      // Bytes go without a content type.
      assert.equal((await importDocument(somewhere(), Buffer.from(text))).document.info.title, 'Pets');
      for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/octet-stream']) {
        const { document } = await importDocument(somewhere(), text, { headers: { 'content-type': type } });
        assert.equal(document.info.title, 'Pets', type);
      }
    }
    const answer = await ask('POST', '/gw/apis/oas/import', stringify(plain()), json);
    const hint = 'Request body malformed: it is not JSON; send YAML with Content-Type: application/yaml';
    assert.deepEqual([answer.status, answer.body], [400, refusal(hint)]);
  });

  test('Swagger 2.0 is rejected by name, by every operation that reads documents', async () => {
    const { key } = await importDocument(somewhere());
    const swagger = { swagger: '2.0', info: { title: 'Pets', version: '1' }, paths: {} };
    for (const [method, path] of [
      ['POST', '/gw/apis/oas'],
      ['PUT', `/gw/apis/oas/${key}`],
      ['PATCH', `/gw/apis/oas/${key}`],
    ] as const) {
      const answer = await ask(method, path, swagger);
      assert.deepEqual(
        [answer.status, answer.body],
        [400, refusal('swagger: this is Swagger 2.0: convert it to OpenAPI 3 first')],
        method,
      );
    }
  });

  test('a document that cannot be imported is rejected with reason and path', async () => {
    const taken = await importDocument(somewhere());
    const { orgId } = await app().stranger();
    const swagger = { swagger: '2.0', info: { title: 'Pets', version: '1' }, host: 'a.example', paths: {} };
    const relative = plain({ servers: [{ url: '/v1' }] });
    for (const [query, body, status, message] of [
      ['', { ...plain(), 'x-gw-api-gateway': {} }, 400, 'the import payload should not contain x-gw-api-gateway'],
      ['', plain({ servers: [] }), 400, 'upstreamURL: is required, since the document names no servers'],
      ['', relative, 400, 'servers[0].url: is not an absolute URL: give upstreamURL'],
      ['upstreamURL=/v1', plain(), 400, 'upstreamURL: must be an absolute URL'],
      ['authentication=true', plain(), 400, 'authentication: the document has no security to take it from'],
      [
        'apiID=a%20b',
        plain(),
        400,
        'x-gw-api-gateway.info.id: must be 1 to 64 letters, digits, hyphens or underscores',
      ],
      ['org_id=nowhere', plain(), 400, 'org_id: there is no organisation nowhere'],
      [`apiID=${taken.key}&org_id=${orgId}`, plain(), 409, 'Found API with the same ID: choose another id'],
      ['base_api_id=nobodys&new_version_name=v2', plain(), 400, 'base_api_id: there is no API nobodys'],
      ['', swagger, 400, 'swagger: this is Swagger 2.0: convert it to OpenAPI 3 first'],
      ['authentcation=true', plain(), 400, 'authentcation: no such parameter; did you mean authentication?'],
      ['', [], 400, 'expected object, received array'],
      ['', '{', 400, 'Request body malformed: it is not JSON at character 1'],
    ] as const) {
      const answer = await ask('POST', `/gw/apis/oas/import?${query}`, body);
      assert.deepEqual([answer.status, answer.body], [status, refusal(message)], query);
    }
    for (const name of ['allowList', 'validateRequest', 'mockResponse', 'authentication', 'securityProcessingMode']) {
      const answer = await ask('POST', `/gw/apis/oas/import?${name}=perhaps`, plain());
      assert.equal(answer.status, 400);
      assert.ok(answer.body.message.startsWith(`${name}: `), answer.body.message);
    }
  });

  test('a document is exported as a file, alone or with all others', async () => {
    const { key, document } = await importDocument(somewhere());
    const one = await ask('GET', `/gw/apis/oas/${key}/export`);
    assert.equal(one.headers.get('content-type'), 'application/octet-stream');
    assert.equal(one.headers.get('content-disposition'), `attachment;filename="GwOasApiDef-${key}.json"`);
    assert.equal(one.text, `${JSON.stringify(document, null, 2)}\n`);
    const all = await ask('GET', '/gw/apis/oas/export');
    assert.equal(all.headers.get('content-disposition'), 'attachment;filename="GwOasApiDef.json"');
    assert.deepEqual(all.body, (await ask('GET', '/gw/apis/oas')).body);
  });

  test('a public export has no gateway extension, and the gateway as its server', async () => {
    const listenPath = `/i${createPublicId()}`;
    const { key, document } = await importDocument(`listenPath=${listenPath}`);
    const { 'x-gw-api-gateway': _gateway, ...rest } = document;
    const { ApiURL: url } = (await ask('GET', `/api/apis/${key}/url`)).body;
    const seen = { ...rest, servers: [{ url }] };
    assert.deepEqual((await ask('GET', `/gw/apis/oas/${key}?mode=public`)).body, seen);
    const one = await ask('GET', `/gw/apis/oas/${key}/export?mode=public`);
    assert.equal(one.headers.get('content-disposition'), `attachment;filename="oas-${key}.json"`);
    assert.deepEqual(one.body, seen);
    const all = await ask('GET', '/gw/apis/oas/export?mode=public');
    assert.equal(all.headers.get('content-disposition'), 'attachment;filename="oas.json"');
    assert.deepEqual(all.body, (await ask('GET', '/gw/apis/oas?mode=public')).body);
    for (const one of all.body) assert.equal('x-gw-api-gateway' in one, false);
  });

  test('the schema of documents is published for each supported OpenAPI version', async () => {
    for (const query of ['', '?oasVersion=3.0.3', '?oasVersion=3.1']) {
      const { status, body } = await ask('GET', `/gw/schema${query}`);
      assert.deepEqual([status, body.status, body.message], [200, 'Success', '']);
      assert.equal(typeof body.schema.properties['x-gw-api-gateway'].properties.server, 'object');
    }
    const { status, body } = await ask('GET', '/gw/schema?oasVersion=4.0.3');
    assert.deepEqual([status, body], [404, { status: 'Failed', message: 'Schema not found for version "4.0.3"' }]);
  });
});
