import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel, oasToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { openBench, orgId } from '../../../tests/support/step-harness.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { listReferencedPolicies, prefetchPolicies, requiredPoliciesStep } from './required-policies.ts';

const listPolicies = (definition: object) =>
  listReferencedPolicies(classicToModel({ api_id: 'a', ...definition } as unknown as ClassicDefinition));
const jwt = { enable_jwt: true, jwt_source: 'c2VjcmV0', jwt_default_policies: ['one', 'two', 'one', ''] };
const openId = {
  use_openid: true,
  openid_options: { providers: [{ issuer: 'https://a', client_ids: { YXBw: 'three' } }] },
};

test('referenced policies: defaults, by scope and by client, each once', () => {
  assert.deepEqual(listPolicies({ ...jwt, scopes: { jwt: { scope_to_policy: { read: 'two', write: 'four' } } } }), [
    'one',
    'two',
    'four',
  ]);
  assert.deepEqual(listPolicies({ ...jwt, ...openId }), ['one', 'two', 'three']);
});

test('referenced policies: those that are never assigned are left out', () => {
  assert.deepEqual(listPolicies({ ...jwt, jwt_source: '' }), [], 'each caller has a key of their own');
  assert.deepEqual(listPolicies({ ...jwt, enable_jwt: false }), []);
  assert.deepEqual(listPolicies({ ...jwt, use_keyless: true }), []);
  assert.deepEqual(listPolicies({ ...openId, scopes: { oidc: { scope_to_policy: { read: 'five' } } } }), ['five']);
});

test('referenced policies: those of every security requirement', () => {
  const scheme = (policy: string) => ({
    enabled: true,
    header: { enabled: true, name: 'Authorization' },
    source: 'c2VjcmV0',
    defaultPolicies: [policy],
  });
  const component = { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' };
  const model = oasToModel({
    openapi: '3.0.3',
    info: { title: 'a', version: '1' },
    paths: {},
    components: { securitySchemes: { one: component, two: component } },
    security: [{ one: [] }, { two: [] }],
    'x-gw-api-gateway': {
      server: {
        authentication: {
          enabled: true,
          securityProcessingMode: 'compliant',
          securitySchemes: { one: scheme('first'), two: scheme('second') },
        },
      },
    },
  } as unknown as Parameters<typeof oasToModel>[0]);
  assert.deepEqual(listReferencedPolicies(model), ['first', 'second']);
});

test('prefetch loads policies page by page: only the API with a missing policy is unavailable', async () => {
  const bench = await openBench();
  try {
    const ids = Array.from({ length: 7 }, (_, n) => `policy-${n}`);
    for (const id of ids.slice(0, -1)) await bench.policy({ id, access_rights: {} });
    const models = ids.map(id =>
      classicToModel({
        api_id: id,
        org_id: orgId,
        enable_jwt: true,
        jwt_source: 'c2VjcmV0',
        jwt_default_policies: [id],
      } as unknown as ClassicDefinition),
    );
    const before = bench.queries();
    await prefetchPolicies(models, bench.services.keyCache, 3);
    assert.equal(bench.queries() - before, 3, 'three pages');
    const make = (at: number) =>
      requiredPoliciesStep.build({ model: models[at]!, version: models[at]!.versions[0]!, services: bench.services });
    for (const at of [0, 2, 3, 5]) assert.equal(make(at), undefined, `policy-${at}`);
    assert.throws(() => make(6), new ApiCompileError('the policy policy-6 is missing'));
  } finally {
    await bench.close();
  }
});
