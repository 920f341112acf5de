import assert from 'node:assert/strict';
import { test } from 'node:test';
import { order } from './order.ts';

/** A step that moves changes what callers may do: it is moved here too, on purpose. */
const pinned = [
  'unsupported',
  'named-policies',
  'cors-headers',
  'tracing',
  'expiry',
  'path-parameters',
  'tracking',
  'endpoint-access',
  'cors',
  'ip-access',
  'client-certificates',
  'organisation-limits',
  'size-limit',
  'context-variables',
  'alternatives',
  'oauth',
  'external-oauth',
  'basic',
  'hmac',
  'jwt',
  'oidc',
  'token',
  'bearer',
  'strip-auth',
  'key-state',
  'access-rights',
  'rate-limits-endpoint',
  'allowed-urls',
  'key-limits',
  'scope-check',
  'token-exchange',
  'api-limits',
  'upstream-auth',
  'validate-json',
  'validate-request',
  'transform-request-body',
  'transform-request-jq',
  'request-headers',
  'url-rewrite',
  'method-transform',
  'mock-response',
  'transform-response-body',
  'transform-response-jq',
  'response-headers',
  'response-processors',
  'error-overrides',
  'cache',
  'request-signing',
  'enforced-timeout',
  'discovery',
  'circuit-breaker',
  'limit-headers',
];

test('the step order is pinned, each step with its reason', () => {
  assert.deepEqual(
    order.map(({ step }) => step.name),
    pinned,
    'a new or moved step is entered in the pinned list, at its place',
  );
  for (const { step, why } of order) assert.match(why, /\.$/, step.name);
});
