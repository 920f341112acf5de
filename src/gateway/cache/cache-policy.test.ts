import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#base/settings.ts';
import { classicToModel } from '#definition/model.ts';
import type { ClassicDefinition } from '#definition/wire-types.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import { ApiCompileError } from '../pipeline/step.ts';
import { createCachePolicy, hasLoopTarget } from './cache-policy.ts';

const settings = readSettings({ flags: {} });

function modelOf(cache: object, lists: object = {}, more: object = {}) {
  const version = { name: 'Default', use_extended_paths: true, extended_paths: lists };
  return classicToModel({
    ...{ api_id: 'api', org_id: 'org', name: 'A', use_keyless: true, cache_options: cache },
    version_data: { not_versioned: true, versions: { Default: version } },
    ...more,
  } as unknown as ClassicDefinition);
}

function planOf(cache: object, lists?: object) {
  const model = modelOf(cache, lists);
  const policy = createCachePolicy(model, model.versions[0]!, settings);
  return policy && ((method: string, path: string) => policy.rulesFor({ method, innerPath: path, path } as Exchange));
}

const on = { enable_cache: true, cache_timeout: 60, cache_all_safe_requests: true };
const entry = { path: '/a', method: 'GET' };

test('a definition that caches nothing has no cache policy', () => {
  assert.equal(planOf({ ...on, enable_cache: false }, { advance_cache_config: [{ ...entry, timeout: 5 }] }), undefined);
  assert.equal(planOf({ ...on, cache_all_safe_requests: false }), undefined);
  assert.equal(planOf({ ...on, cache_timeout: 0 }), undefined);
  assert.equal(planOf({ ...on, cache_timeout: -1 }), undefined);
  assert.equal(planOf({ ...on, cache_timeout: 0 }, { advance_cache_config: [entry] }), undefined);
  assert.equal(
    planOf({ ...on, cache_all_safe_requests: false }, { advance_cache_config: [{ ...entry, disabled: true }] }),
    undefined,
  );
});

test('endpoint cache settings override those of the API, unset ones fall back to it', () => {
  const rules = planOf(
    { ...on, cache_response_codes: [200], cache_all_safe_requests: false },
    {
      advance_cache_config: [
        entry,
        { path: '/b', method: 'POST', timeout: 5, cache_response_codes: [404], cache_key_regex: 'x+' },
      ],
    },
  )!;
  assert.deepEqual([rules('GET', '/a')?.ttlMs, [...rules('GET', '/a')!.statuses!]], [60_000, [200]]);
  assert.deepEqual([rules('POST', '/b')?.ttlMs, [...rules('POST', '/b')!.statuses!]], [5000, [404]]);
  assert.ok(rules('POST', '/b')?.bodyPattern?.matcher('axxb').find());
  for (const [method, path] of [
    ['POST', '/a'],
    ['GET', '/b'],
    ['GET', '/c'],
  ] as const)
    assert.equal(rules(method, path), undefined, `${method} ${path}`);
});

test('an endpoint without a TTL is cached where the upstream may give one', () => {
  const rules = planOf(
    { ...on, cache_timeout: 0, enable_upstream_cache_control: true },
    { advance_cache_config: [entry] },
  )!;
  assert.equal(rules('GET', '/a')?.ttlHeader, 'x-gw-cache-action-set-ttl');
  assert.equal(rules('HEAD', '/else')?.ttlMs, 0);
  const named = planOf({ ...on, enable_upstream_cache_control: true, cache_control_ttl_header: 'X-Keep' })!;
  assert.equal(named('GET', '/a')?.ttlHeader, 'x-keep');
});

test('an invalid or too complex body pattern makes the API unavailable', () => {
  for (const cache_key_regex of ['(?=a)', '(', '(?:a{1,100}){1,10}b'])
    assert.throws(() => planOf(on, { advance_cache_config: [{ ...entry, cache_key_regex }] }), ApiCompileError);
});

test('an API with a gw:// target caches nothing itself', () => {
  const goesRound = (proxy: object) => {
    const model = modelOf(on, {}, { proxy });
    return hasLoopTarget(model, model.versions[0]!);
  };
  assert.equal(goesRound({ target_url: 'http://a.example' }), false);
  assert.equal(goesRound({ target_url: 'gw://other/' }), true);
  assert.equal(
    goesRound({
      target_url: 'http://a.example',
      enable_load_balancing: true,
      target_list: ['http://a.example', 'GW://self'],
    }),
    true,
  );
});
