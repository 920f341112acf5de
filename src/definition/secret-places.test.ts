import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { mapSecrets } from './secret-places.ts';

const listSecrets = (format: 'classic' | 'oas', definition: object) => {
  const places: Record<string, string> = {};
  mapSecrets(format, definition, (value, path) => {
    places[path] = value;
    return value;
  });
  return places;
};

describe('secrets in definitions', () => {
  test('every field marked as a secret is mapped in the classic format, and no other', () => {
    const definition = {
      name: 'secret',
      jwt_source: 'a',
      request_signing: { secret: 'b', key_id: 'public' },
      upstream_auth: {
        basic_auth: { username: 'ann', password: 'c' },
        oauth: { client_credentials: { client_id: 'x', client_secret: 'd' }, password: { password: 'e' } },
      },
      notifications: { shared_secret: 'f' },
      auth: { signature: { secret: 'g' } },
      auth_configs: { authToken: { signature: { secret: 'h', algorithm: 'x' } } },
      external_oauth: { providers: [{ introspection: { client_secret: 'i', url: 'u' }, jwt: { source: 'j' } }] },
      config_data: { api_key: 'k', color: 'red' },
      event_handlers: { events: { AuthFailure: [{ handler_meta: { target_path: 'u', header_map: { a: 'l' } } }] } },
      version_data: {
        versions: {
          v1: {
            global_headers: { 'x-a': 'm' },
            global_response_headers: { 'x-b': 'shown' },
            extended_paths: { transform_headers: [{ path: '/p', add_headers: { z: 'n' } }] },
          },
        },
      },
      'x-gw-oas': { 'x-gw-api-gateway': { server: { x: { clientSecret: 'o' } } }, info: { title: 't' } },
    };
    assert.equal(Object.values(listSecrets('classic', definition)).sort().join(''), 'abcdefghijklmno');
  });

  test('secrets of the OpenAPI format are mapped in schemes, operations, header pairs and streams, not in schemas', () => {
    const definition = {
      components: { schemas: { A: { properties: { password: { type: 'string', default: 'x' } } } } },
      'x-gw-streaming': { streams: { s: { input: { kafka: { password: 'e', topic: 't' } } } } },
      'x-gw-api-gateway': {
        server: { authentication: { securitySchemes: { any: { source: 'a', signatureValidation: { secret: 'b' } } } } },
        middleware: {
          global: { transformRequestHeaders: { add: [{ name: 'x-n', value: 'c' }] } },
          operations: { op: { transformRequestHeaders: { add: [{ name: 'x-n', value: 'd' }] } } },
        },
      },
    };
    assert.equal(Object.values(listSecrets('oas', definition)).sort().join(''), 'abcde');
  });

  test('a definition without changed secrets is not copied', () => {
    const definition = { jwt_source: 'a', version_data: { versions: {} } };
    assert.equal(
      mapSecrets('classic', definition, value => value),
      definition,
    );
  });
});
