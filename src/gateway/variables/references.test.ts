import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import type { ClassicDefinition } from '#definition/classic.ts';
import { modelOfClassic } from '#definition/model.ts';
import { withReferences } from './references.ts';
import { hasSecrets, variables } from './variables.ts';

const tools = { settings: readSettings({ flags: { 'secrets.values': '{"url":"http://inside.example","key":"k"}' } }) };
const resolved = (definition: object) => withReferences(modelOfClassic(definition as ClassicDefinition), tools);

test('a text that names a secret stands for it, wherever it is in a definition', () => {
  const { model, missing } = resolved({
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
  assert.deepEqual([variables(add.A!, tools)(call), variables(add.B!, tools)(call)], ['k', 'a secrets://key']);
  assert.deepEqual([hasSecrets(add.A!), hasSecrets(add.B!)], [true, false]);
});

test('one that is missing, or kept where the gateway keeps none, is told', () => {
  for (const [text, missing] of Object.entries({
    'secrets://nobody': 'the secret secrets://nobody is missing',
    'env://PATH': 'the secret env://PATH is missing',
    'file://../passwd': 'the secret file://../passwd is missing',
    'vault://a/b': 'the gateway keeps no secrets in vault',
    'consul://a': 'the gateway keeps no secrets in consul',
    'kv://a': 'the gateway keeps no secrets in kv',
  }))
    assert.equal(resolved({ request_signing: { secret: text } }).missing, missing);
});

test('a definition that names none is not copied', () => {
  const model = modelOfClassic({ proxy: { target_url: 'http://a.example' }, name: 'env://x' } as ClassicDefinition);
  assert.equal(withReferences(model, tools).model, model);
});
