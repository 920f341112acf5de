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
    'plugins of the driver python': { custom_middleware: { driver: 'python', pre: [{ name: 'x', path: 'y' }] } },
    'plugins of the driver lua': { custom_middleware: { driver: 'lua', response: [{ name: 'x', path: 'y' }] } },
    'plugins of the driver goplugin': { custom_middleware: { driver: 'goplugin', post: [{ name: 'x', path: 'y' }] } },
  };
  for (const [what, definition] of Object.entries(asking)) {
    test(`a definition with ${what} is not served and its status has the reason`, async () => {
      const api = await bench.compile(definition);
      assert.equal(api.unavailableReason, `the gateway does not offer ${what}`);
      assert.equal(api.versionRuntimes.length, 0);
    });
  }

  test('a disabled unsupported feature does not keep the API from being served', async () => {
    const custom_middleware = { driver: 'goplugin' };
    const compile = (entry: object) => bench.compile({ ...list('go_plugin', entry), custom_middleware });
    assert.equal((await compile({ disabled: true })).unavailableReason, '');
    assert.match((await compile({ disabled: false })).unavailableReason, /plugins of the driver goplugin/);
  });
});
