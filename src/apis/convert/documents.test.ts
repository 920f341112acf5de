import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkOas } from '#definition/oas.ts';
import { importOas } from '#definition/oas-import.ts';
import { checkStreams } from '#definition/streams.ts';
import { convertText } from './convert-text.ts';

const maxBytes = 1_000_000;
const convert = async (value: unknown, format = 'auto' as const) =>
  convertText({ format, text: typeof value === 'string' ? value : JSON.stringify(value), maxBytes });

describe('Swagger 2.0 conversion', () => {
  const swagger = {
    swagger: '2.0',
    info: { title: 'Pets', version: '1' },
    host: 'pets.example',
    basePath: '/v2',
    schemes: ['https'],
    consumes: ['application/json'],
    produces: ['application/json'],
    securityDefinitions: {
      key: { type: 'apiKey', in: 'header', name: 'X-Key' },
      login: { type: 'basic' },
      flow: {
        type: 'oauth2',
        flow: 'accessCode',
        authorizationUrl: 'https://a/x',
        tokenUrl: 'https://a/t',
        scopes: { a: 'A' },
      },
    },
    security: [{ key: [] }],
    definitions: { Pet: { type: 'object', properties: { name: { type: 'string' } } } },
    paths: {
      '/pets/{id}': {
        parameters: [{ name: 'id', in: 'path', required: true, type: 'integer' }],
        get: {
          operationId: 'getPet',
          parameters: [
            { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' },
          ],
          responses: { 200: { description: 'ok', schema: { $ref: '#/definitions/Pet' } } },
        },
        put: {
          operationId: 'putPet',
          parameters: [{ name: 'pet', in: 'body', required: true, schema: { $ref: '#/definitions/Pet' } }],
          responses: { 204: { description: 'ok' } },
        },
        post: {
          operationId: 'upload',
          consumes: ['multipart/form-data'],
          parameters: [
            { name: 'file', in: 'formData', type: 'file' },
            { name: 'note', in: 'formData', type: 'string' },
          ],
          responses: { 200: { description: 'ok' } },
        },
      },
    },
  };

  test('a document becomes OpenAPI 3 that can be imported and served', async () => {
    const { format, kind, document, warnings } = await convert(swagger);
    assert.deepEqual([format, kind, warnings], ['swagger', 'openapi', []]);
    assert.match(String(document.openapi), /^3\.0\./);
    assert.deepEqual(document.servers, [{ url: 'https://pets.example/v2' }]);
    const { components, paths } = document as never as {
      components: Record<string, Record<string, object>>;
      paths: Record<string, Record<string, Record<string, never>>>;
    };
    assert.deepEqual(components.schemas?.Pet, swagger.definitions.Pet);
    assert.deepEqual(components.securitySchemes?.login, { type: 'http', scheme: 'basic' });
    assert.deepEqual(Object.keys(components.securitySchemes?.flow ?? {}), ['type', 'flows']);
    const item = paths['/pets/{id}']!;
    assert.deepEqual(item.put?.requestBody, {
      required: true,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } },
    });
    assert.ok('multipart/form-data' in (item.post!.requestBody as never as { content: object }).content);
    const imported = importOas(document, { listenPath: '/pets/' });
    assert.ok(imported.ok, JSON.stringify(imported));
    assert.deepEqual(checkOas(imported.definition).ok, true);
  });

  test('references to other files are not followed, and listed', async () => {
    const { warnings } = await convert({
      ...swagger,
      definitions: { Pet: { $ref: 'http://127.0.0.1:9/pet.json' } },
      host: undefined,
    });
    assert.deepEqual(warnings, [
      'the reference http://127.0.0.1:9/pet.json is not followed',
      'the document has no host: set the upstream',
    ]);
  });

  test('Swagger 1 is rejected', async () => {
    await assert.rejects(convert({ swagger: '1.2' }), /Swagger 1.2 is not supported/);
  });
});

describe('AsyncAPI conversion', () => {
  const older = {
    asyncapi: '2.6.0',
    info: { title: 'Order events', version: '3' },
    servers: {
      main: {
        url: '{host}:9093',
        protocol: 'kafka-secure',
        variables: { host: { default: 'broker.example' } },
        security: [{ user: [] }],
      },
      other: { url: 'stomp.example', protocol: 'stomp' },
    },
    channels: {
      'orders.created': { subscribe: { summary: 'New orders' }, publish: {} },
      'users/{id}': { subscribe: {} },
      silent: {},
      odd: { subscribe: {}, servers: ['other'] },
    },
  };

  test('channels of version 2 become streams between the broker and HTTP clients', async () => {
    const { kind, document, warnings } = await convert(older);
    assert.equal(kind, 'streams');
    const broker = { addresses: ['broker.example:9093'], tls: { enabled: true } };
    assert.deepEqual(document['x-gw-streaming'], {
      streams: {
        'orders-created-out': {
          input: { kafka: { ...broker, topics: ['orders.created'], consumer_group: 'gateway' } },
          output: {
            http_server: {
              path: '/orders.created',
              stream_path: '/orders.created/stream',
              ws_path: '/orders.created/ws',
              allowed_verbs: ['GET'],
            },
          },
        },
        'orders-created-in': {
          input: {
            http_server: {
              path: '/orders.created/publish',
              ws_path: '/orders.created/publish/ws',
              allowed_verbs: ['POST'],
            },
          },
          output: { kafka: { ...broker, topic: 'orders.created' } },
        },
      },
    });
    assert.deepEqual(warnings, [
      'of several servers, main is used',
      'credentials of the server main are not converted: add them to its streams',
      'the channel users/{id} is left out: it has parameters',
      'the channel silent is left out: no operation uses it',
      'the channel odd is left out: no server has a supported protocol (stomp)',
      'the gateway does not serve streams yet: the API is stored, and its requests are refused with 503',
      'schemas of messages are not enforced',
    ]);
    const checked = checkStreams(document);
    assert.ok(checked.ok, JSON.stringify(checked));
  });

  test('operations of version 3 are those of the application', async () => {
    const { document } = await convert({
      asyncapi: '3.0.0',
      info: { title: 'Lights', version: '1' },
      servers: { main: { host: 'mqtt.example:1883', protocol: 'mqtt' } },
      channels: { on: { address: 'lights/on' }, seen: { address: 'lights/seen' } },
      operations: {
        turnOn: { action: 'receive', channel: { $ref: '#/channels/on' } },
        see: { action: 'send', channel: { $ref: '#/channels/seen' } },
      },
    });
    const { streams } = document['x-gw-streaming'] as { streams: Record<string, { input: object; output: object }> };
    assert.deepEqual(Object.keys(streams), ['lights-on-in', 'lights-seen-out']);
    assert.deepEqual(streams['lights-on-in']?.output, {
      mqtt: { urls: ['tcp://mqtt.example:1883'], topic: 'lights/on' },
    });
    assert.deepEqual(streams['lights-seen-out']?.input, {
      mqtt: { urls: ['tcp://mqtt.example:1883'], topics: ['lights/seen'] },
    });
  });

  test('a document without a usable channel is rejected with the reasons', async () => {
    await assert.rejects(
      convert({ ...older, channels: { 'a/{b}': { subscribe: {} } } }),
      /no channel can be converted; the channel a/,
    );
    await assert.rejects(convert({ asyncapi: '1.2.0' }), /AsyncAPI 1.2.0 is not supported/);
  });
});

describe('recognition of formats', () => {
  test('each format is recognised by its content', async () => {
    const recognised = async (text: unknown) => (await convert(text)).format;
    assert.equal(await recognised('curl https://a.example/x'), 'curl');
    assert.equal(await recognised('$ curl https://a.example/x'), 'curl');
    assert.equal(await recognised('openapi: 3.1.0\ninfo: { title: A, version: "1" }\npaths: {}\n'), 'openapi');
    assert.equal(
      await recognised({ info: { name: 'A' }, item: [{ name: 'a', request: 'https://a.example' }] }),
      'postman',
    );
    assert.equal(await recognised({ collection: { info: {}, item: [{ request: 'https://a.example' }] } }), 'postman');
  });

  test('formats without a converter, unknown documents and other texts are rejected with a reason', async () => {
    await assert.rejects(
      convert('<?xml version="1.0"?><wsdl:definitions xmlns:wsdl="x"/>'),
      /wsdl is not supported: describe/,
    );
    await assert.rejects(convert({ some: 'document' }), /not recognised: set format to curl, blueprint, openapi/);
    await assert.rejects(convert('[1]'), /must be an object/);
    await assert.rejects(convert('{"openapi": '), /malformed/);
    await assert.rejects(convert('openapi: 2.9'), /OpenAPI 2.9 is not supported/);
  });

  test('the number of values is bounded', async () => {
    assert.throws(() =>
      convertText({ format: 'auto', text: `{"openapi":"3.0.0","x":[${'0,'.repeat(5000)}0]}`, maxBytes: 10_000 }),
    );
  });
});

describe('bounds of conversions', () => {
  test('variables that expand to each other, long URLs and many segments cost little', async () => {
    const bomb = '{{a}}'.repeat(90);
    const collection = { info: {}, variable: [{ key: 'a', value: bomb }], item: [{ name: 'x', request: bomb }] };
    await assert.rejects(convert(collection), /the collection has no request/);
    const server = { url: '{a}'.repeat(1000), protocol: 'kafka', variables: { a: { default: 'x'.repeat(100_000) } } };
    await assert.rejects(
      convert({ asyncapi: '2.0.0', servers: { server }, channels: { c: { subscribe: {} } } }),
      /no channel/,
    );
    const { document } = await convert(`curl http://a.example/${'1/'.repeat(3000)}`);
    assert.equal(Object.keys(document.paths as object).length, 1);
    await assert.rejects(convert(`curl http://a.example/${'1/'.repeat(30_000)}`), /no curl command has a URL/);
  });

  test('names of the language do not become members', async () => {
    const { document } = await convert(
      `curl 'http://a.example/__proto__/constructor?__proto__=1' -d '{"__proto__":{"x":1},"toString":1}'`,
    );
    assert.deepEqual(Object.keys(document.paths as object), ['/__proto__/constructor']);
    assert.equal(({} as { x?: unknown }).x, undefined);
  });
});
