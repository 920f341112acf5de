import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';

describe('APIs that were stored before a rule was made', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());

  test('an address that cannot be read is told, and has no place in the routes', async () => {
    for (const address of [{ proxy: { listen_path: '/a/{x:(}' } }, { domain: '{x:(a)\\1}.test' }]) {
      const api = await bench.compile({ use_keyless: true, active: true, ...address });
      assert.match(api.unavailableReason, /^its address cannot be read: \{x:.* is not a regular expression/);
      assert.equal(api.isRouted, false);
    }
  });

  test('a pattern of versions that would take too long keeps the API from being served', async () => {
    const api = await bench.compile({
      use_keyless: true,
      definition: { location: 'url', url_versioning_pattern: '(?:a?){1000}a{1000}' },
      version_data: { not_versioned: false, default_version: 'v1', versions: { v1: { name: 'v1' } } },
    });
    assert.equal(
      api.unavailableReason,
      'the pattern of versions in URLs cannot be read: it would take too long: it repeats too much',
    );
  });
});
