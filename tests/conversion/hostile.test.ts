import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkClassic } from '#definition/classic.ts';
import { convertToClassic, convertToOas } from '#definition/convert.ts';
import { classicToModel, oasToModel } from '#definition/model.ts';
import type { ClassicDefinition, OasDefinition } from '#definition/wire-types.ts';

/** JSON may hold a member of this name; taken for the prototype it would reach every object of the process. */
const classic = JSON.parse(`{
  "name": "A", "proxy": { "listen_path": "/a/", "target_url": "http://127.0.0.1:9/" },
  "__proto__": { "polluted": 1 },
  "event_handlers": { "events": { "__proto__": [{ "handler_name": "__proto__", "handler_meta": { "polluted": 1 } }] } },
  "auth_configs": { "__proto__": { "polluted": 1 }, "authToken": { "name": "__proto__" } },
  "version_data": { "versions": { "__proto__": { "use_extended_paths": true, "extended_paths": {
    "white_list": [{ "path": "/__proto__", "method": "GET" }] } } } },
  "x-gw-oas": { "openapi": "3.0.3", "info": { "title": "A", "version": "1" },
    "paths": { "/__proto__": { "get": { "operationId": "__proto__" } } } }
}`) as ClassicDefinition;

test('__proto__ and similar member names do not pollute prototypes in a conversion', () => {
  assert.ok(checkClassic(classic, 'warn').ok);
  const document = convertToOas(classic);
  classicToModel(classic);
  oasToModel(document);
  classicToModel(convertToClassic(document));
  oasToModel(JSON.parse(JSON.stringify(document)) as OasDefinition);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
  assert.deepEqual(Object.keys(Object.prototype), []);
});

test('two classic paths that map to one OpenAPI path stay separate', () => {
  const given: ClassicDefinition = {
    version_data: {
      versions: {
        '': {
          use_extended_paths: true,
          extended_paths: {
            white_list: [
              { path: '/get', method: 'GET' },
              { path: 'get', method: 'GET' },
              { path: '/i/[0-9]+', method: 'GET' },
              { path: '/i/[a-z]+', method: 'GET' },
            ],
          },
        },
      },
    },
  };
  const paths = classicToModel(convertToClassic(convertToOas(given))).versions[0]!.endpoints.allow.map(
    ({ path }) => path,
  );
  assert.deepEqual(paths.sort(), ['/get', '/i/[0-9]+', '/i/[a-z]+', 'get']);
});
