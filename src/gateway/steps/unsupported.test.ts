import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';

/** Unsupported features; implementing one removes its line. */
describe('unsupported features', () => {
  let bench: Bench;
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.close());
  const version = (more: object) => ({
    version_data: {
      not_versioned: true,
      versions: { Default: { name: 'Default', use_extended_paths: true, ...more } },
    },
  });
  const list = (name: string, entry: object = {}) =>
    version({ extended_paths: { [name]: [{ path: '/x', method: 'GET', ...entry }] } });

  const asking: Record<string, object> = {
    'authentication by plugin': { custom_plugin_auth_enabled: true },
    'virtual endpoints': list('virtual'),
    GraphQL: { graphql: { enabled: true } },
    plugins: { custom_middleware: { pre: [{ name: 'x', path: 'y' }] } },
  };
  for (const [what, definition] of Object.entries(asking)) {
    test(`a definition with ${what} is not served and its status has the reason`, async () => {
      const api = await bench.compile(definition);
      assert.equal(api.unavailableReason, `the gateway does not offer ${what}`);
      assert.equal(api.versionRuntimes.length, 0);
    });
  }

  test('a disabled unsupported feature does not keep the API from being served', async () => {
    assert.equal((await bench.compile(list('virtual', { disabled: true }))).unavailableReason, '');
  });
});
