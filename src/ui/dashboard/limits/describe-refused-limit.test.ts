import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EffectiveRow } from '../keys/effective-values.ts';
import { describeApiLimit, describeKeyLimit } from './describe-refused-limit.ts';

const row = (name: string, value: string, ...sources: EffectiveRow['sources'][number][]): EffectiveRow => ({
  ...{ name, value, sources, overridden: [] },
});
const gold = { kind: 'policy', id: 'gold' } as const;
const key = { kind: 'key', id: '' } as const;
const nameOf = (id: string) => id.toUpperCase();

describe('The limit that refused a request', () => {
  test('a rate has its policy by name, and a quota its period', () => {
    const rows = [row('Rate', '5 a minute', gold), row('Quota', '100', key), row('Quota period', 'every hour', key)];
    assert.equal(
      describeKeyLimit('rate_exceeded', rows, nameOf),
      'Refused by the rate limit of policy GOLD: 5 a minute.',
    );
    assert.equal(describeKeyLimit('quota_exceeded', rows, nameOf), 'Refused by the quota of the key: 100 every hour.');
  });

  test('several policies are in the plural, and a limit without an origin is one of the APIs', () => {
    const silver = { kind: 'policy', id: 'silver' } as const;
    assert.equal(
      describeKeyLimit('rate_exceeded', [row('Rate', '5 a minute', gold, silver)], nameOf),
      'Refused by the rate limit of policies GOLD, SILVER: 5 a minute.',
    );
    assert.equal(
      describeKeyLimit('rate_exceeded', [row('Rate', '5 a minute')], nameOf),
      'Refused by the rate limit of its APIs: 5 a minute.',
    );
  });

  test('a key without a limit of this kind has no sentence', () => {
    assert.equal(describeKeyLimit('rate_exceeded', [row('Rate', 'unlimited', key)], nameOf), undefined);
    assert.equal(describeKeyLimit('quota_exceeded', [], nameOf), undefined);
  });

  test('the limit of an API comes from the settings of its step', () => {
    const all = 'Refused by the rate limit of the API over all clients: 2 a minute.';
    assert.equal(describeApiLimit({ rateLimit: { enabled: true, rate: 2, perSeconds: 60 } }), all);
    const endpoint = { method: 'GET', path: '/a', rate: 3, perSeconds: 1 };
    const ofEndpoints = { 'endpoints.rateLimit': [endpoint] };
    assert.match(describeApiLimit(ofEndpoints) ?? '', /: GET \/a 3 a second\.$/);
    assert.match(
      describeApiLimit({ rateLimit: { rate: 2, perSeconds: 60 }, ...ofEndpoints }) ?? '',
      /^(?!.*2 a minute)/,
    );
    const both = describeApiLimit({ rateLimit: { enabled: true, rate: 2, perSeconds: 60 }, ...ofEndpoints }) ?? '';
    assert.ok(both.startsWith(all) && both.endsWith('GET /a 3 a second.'), both);
    for (const settings of [undefined, 'truncated…', {}]) assert.equal(describeApiLimit(settings), undefined);
  });
});
