import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRedactor } from '#base/redaction.ts';
import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { createDefinitionSecrets } from './definition-secrets.ts';
import { resolveReferences } from './secret-references.ts';
import { compileVariables, hasSecrets } from './variables.ts';

const settings = readSettings({ flags: { 'secrets.values': '{"url":"http://inside.example","key":"k"}' } });
const secrets = createDefinitionSecrets({
  settings,
  redactor: createRedactor(),
  isGranted: () => true,
}).forOrganisation('o');
const services = { secrets, isContextName: (_name: string): boolean => true };
const resolve = (definition: object) => resolveReferences(classicToModel(definition as ClassicDefinition), secrets);

test('secret references: replaced by the secret in fields that allow them', () => {
  const { model, missing } = resolve({
    proxy: { target_url: 'secrets://url' },
    request_signing: { is_enabled: true, secret: 'secrets://key', header_list: ['secrets://key', 'x'] },
    version_data: {
      versions: { Default: { name: 'Default', global_headers: { A: 'secrets://key', B: 'a secrets://key' } } },
    },
  });
  assert.equal(missing, '');
  assert.equal(model.upstream.url, 'http://inside.example');
  assert.equal(model.requestSigning.secret, 'k');
  assert.deepEqual(model.requestSigning.headers, ['k', 'x']);
  const { add } = model.versions[0]!.requestHeaders;
  const call = { context: undefined, session: undefined };
  assert.deepEqual(
    [compileVariables(add.A!, services)(call), compileVariables(add.B!, services)(call)],
    ['k', 'a secrets://key'],
  );
  assert.deepEqual([hasSecrets(add.A!), hasSecrets(add.B!)], [true, false]);
});

test('secret references: a missing secret and an unknown store are reported', () => {
  for (const [text, missing] of Object.entries({
    'secrets://nobody': 'the secret secrets://nobody is missing',
    'env://PATH': 'the secret env://PATH is missing',
    'file://../passwd': 'the secret file://../passwd is missing',
    'vault://a/b': 'there is no secret source vault',
    'consul://a': 'there is no secret source consul',
    'kv://a': 'there is no secret source kv',
  }))
    assert.equal(resolve({ request_signing: { secret: text } }).missing, missing);
});

test('secret references: a definition without any is not copied', () => {
  const model = classicToModel({ proxy: { target_url: 'http://a.example' }, name: 'env://x' } as ClassicDefinition);
  assert.equal(resolveReferences(model, secrets).model, model);
});

test('secret references: schemas, mock responses, plugin data and templates stay literal', () => {
  const own = 'secrets://key';
  const extended_paths = {
    validate_json: [{ path: '/a', method: 'POST', schema: { $id: 'file:///folder/x.json', default: own } }],
    mock_response: [{ path: '/b', method: 'GET', code: 200, body: own, headers: { A: own } }],
    virtual: [{ path: '/c', method: 'GET', disabled: true, function_source_uri: own }],
  };
  const definition = {
    config_data: { a: own },
    error_overrides: { '500': [{ response: { message: own } }] },
    version_data: { versions: { Default: { name: 'Default', use_extended_paths: true, extended_paths } } },
  };
  const model = classicToModel(definition as unknown as ClassicDefinition);
  assert.deepEqual(resolveReferences(model, secrets), { model, missing: '' });
});

test('secret references: an error in a field that takes none', () => {
  for (const [definition, missing] of [
    [{ proxy: { listen_path: 'secrets://key' } }, 'listen.path cannot reference a secret: secrets://key'],
    [{ domain: 'env://HOST' }, 'customDomain.name cannot reference a secret: env://HOST'],
    [{ tags: ['a', 'secrets://key'] }, 'gatewayTags.tags cannot reference a secret: secrets://key'],
    [
      { request_signing: { secret: '$secret_conf.key' } },
      'requestSigning.secret must be a secret reference alone, without other text: $secret_conf.key',
    ],
    [
      { proxy: { target_url: 'http://a.example/$secret_env.KEY' } },
      'upstream.url must be a secret reference alone, without other text: $secret_env.KEY',
    ],
    [
      { tags: ['$secret_conf.key'] },
      'gatewayTags.tags must be a secret reference alone, without other text: $secret_conf.key',
    ],
  ] as const)
    assert.equal(resolve(definition).missing, missing);
});
