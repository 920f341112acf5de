import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import { order } from '../../steps/order.ts';
import { describeStepSettings } from './step-settings.ts';

const describeStep = (step: string, definition: object) => {
  const model = classicToModel({ api_id: 'one', ...definition } as unknown as ClassicDefinition);
  return describeStepSettings(step, model, model.versions[0]);
};

test('settings of a step contain its part of the definition without unset members', () => {
  assert.deepEqual(describeStep('cors', { CORS: { enable: true, max_age: 9 } }), {
    cors: { enabled: true, maxAge: 9 },
  });
  assert.equal(describeStep('cors', {}), undefined);
  assert.equal(describeStep('no-such-step', {}), undefined);
});

test('settings of the API and of its endpoints with the same name are both shown', () => {
  const rate_limit = [{ path: '/a', method: 'GET', enabled: true, rate: 3, per: 1 }];
  const versions = { Default: { use_extended_paths: true, extended_paths: { rate_limit } } };
  const settings = describeStep('api-limits', {
    global_rate_limit: { rate: 2, per: 60 },
    version_data: { not_versioned: true, versions },
  }) as Record<string, Record<string, unknown>>;
  assert.deepEqual([settings.rateLimit?.enabled, settings.rateLimit?.rate], [true, 2]);
  assert.equal((settings['endpoints.rateLimit'] as unknown as { rate: number }[])[0]?.rate, 3);
});

test('secrets are masked at any depth', () => {
  const canary = 'canary';
  const definition = {
    use_basic_auth: true,
    enable_jwt: true,
    jwt_source: canary,
    auth_configs: { authToken: { validate_signature: true, signature: { secret: canary } } },
    notifications: { shared_secret: canary, oauth_on_keychange_url: 'https://x.example' },
    external_oauth: { enabled: true, providers: [{ introspection: { enabled: true, client_secret: canary } }] },
    request_signing: { is_enabled: true, secret: canary },
    upstream_auth: {
      enabled: true,
      basic_auth: { enabled: true, username: 'u', password: canary },
      oauth: { client_credentials: { client_secret: canary }, password: { password: canary, client_secret: canary } },
    },
    version_data: {
      not_versioned: true,
      versions: { Default: { global_headers: { 'X-Api-Key': canary }, global_response_headers: { 'X-Own': canary } } },
    },
  };
  for (const { step } of order) {
    const text = JSON.stringify(describeStep(step.name, definition)) ?? '';
    assert.ok(!text.includes(canary), `${step.name}: ${text}`);
  }
  assert.deepEqual(describeStep('request-headers', definition), {
    requestHeaders: { enabled: true, add: { 'X-Api-Key': '***' } },
  });
});

test('long settings are truncated', () => {
  const settings = describeStep('ip-access', {
    enable_ip_whitelisting: true,
    allowed_ips: Array(500).fill('192.0.2.1'),
  });
  assert.ok(typeof settings === 'string' && settings.length <= 1501);
});

test('every part that a step declares exists in a model', () => {
  const model = classicToModel({ api_id: 'one' } as unknown as ClassicDefinition);
  const [version] = model.versions;
  for (const { step } of order) {
    const { also = {}, ...own } = step.reads ?? {};
    for (const { api = [], version: parts = [], endpoints = [] } of also === 'whole definition' ? [own] : [own, also]) {
      assert.deepEqual(
        [
          ...api.filter(name => !Object.hasOwn(model, name)),
          ...parts.filter(name => !Object.hasOwn(version!, name)),
          ...endpoints.filter(name => !Object.hasOwn(version!.endpoints, name)),
        ],
        [],
        step.name,
      );
    }
  }
});
