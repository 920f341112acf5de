import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Bench, openBench } from '../../../tests/support/step-harness.ts';

/** What the gateway does not offer yet; whoever builds one of these takes its line away. */
describe('definitions that ask for what is not there', () => {
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
    test(`${what}: not served, and it says why`, async () => {
      const api = await bench.compile(definition);
      assert.equal(api.unserved, `the gateway does not offer ${what}`);
      assert.equal(api.served.length, 0);
    });
  }

  test('what is switched off is not asked for', async () => {
    assert.equal((await bench.compile(list('virtual', { disabled: true }))).unserved, '');
  });
});
