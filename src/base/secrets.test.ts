import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createSecretResolver } from './secrets.ts';
import { maskSettings, readSettings } from './settings.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-secrets-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const inside = join(directory, 'inside');
mkdirSync(join(inside, 'folder'), { recursive: true });
writeFileSync(join(directory, 'outside'), 'outside');
writeFileSync(join(inside, 'password'), 'from a file\n');
writeFileSync(join(inside, 'largest'), 'x'.repeat(65_536));
writeFileSync(join(inside, 'large'), 'x'.repeat(65_537));

const flags = { 'secrets.values': '{"key":"from settings"}', 'secrets.directory': inside };
const secrets = createSecretResolver(readSettings({ flags }), { GW_SECRET_KEY: 'from the environment', PATH: '/bin' });

test('a secret is found in its own source only', () => {
  assert.equal(secrets.find('conf', 'key'), 'from settings');
  assert.equal(secrets.find('env', 'key'), 'from the environment');
  assert.equal(secrets.find('file', 'password'), 'from a file');
  assert.equal(secrets.find('file', 'largest')?.length, 65_536);
  for (const [place, name] of [
    ['conf', 'password'],
    ['conf', 'constructor'],
    ['env', 'PATH'],
    ['file', 'key'],
    ['file', 'folder'],
    ['file', 'large'],
    ['file', '../outside'],
    ['file', '..'],
    ['file', '.hidden'],
  ] as const)
    assert.equal(secrets.find(place, name), undefined, `${place} ${name}`);
  assert.equal(createSecretResolver(readSettings({}), {}).find('file', 'password'), undefined);
});

test('secrets in settings are strings by name, never quoted in errors and masked in listings', () => {
  const settings = readSettings({ flags });
  assert.deepEqual(maskSettings(settings)['secrets.values'], { key: '********' });
  for (const value of ['canary', '["canary"]', '{"key":{"a":"canary"}}'])
    assert.throws(
      () => readSettings({ flags: { 'secrets.values': value } }),
      ({ message }: Error) => /secrets\.values .*must be/.test(message) && !message.includes('canary'),
    );
});

test('environment variables that hold secrets are no settings', () => {
  assert.doesNotThrow(() => readSettings({ environment: { GW_SECRET_PAYMENTS: 'canary', GW_VAR_TARGET: 'canary' } }));
});
