import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';

describe('APIs stored before a validation rule existed', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  test('an API with an invalid address reports the reason and is not routed', async () => {
    for (const address of [{ proxy: { listen_path: '/a/{x:(}' } }, { domain: '{x:(a)\\1}.test' }]) {
      const api = await bench.compile({ use_keyless: true, active: true, ...address });
      assert.match(
        api.unavailableReason,
        /^its domain or listen path is invalid: \{x:.* is not a valid regular expression/,
      );
      assert.equal(api.isRouted, false);
    }
  });

  test('a URL versioning pattern with excessive backtracking makes the API unavailable', async () => {
    const api = await bench.compile({
      use_keyless: true,
      definition: { location: 'url', url_versioning_pattern: '(?:a?){1000}a{1000}' },
      version_data: { not_versioned: false, default_version: 'v1', versions: { v1: { name: 'v1' } } },
    });
    assert.equal(
      api.unavailableReason,
      'the pattern of versions in URLs is invalid: it is too complex: it has too many repetitions',
    );
  });
});
