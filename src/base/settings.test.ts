import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { renamedSettings } from './renamed-settings.ts';
import {
  isSwitch,
  maskSettings,
  readSettings,
  type SettingSources,
  settingNames,
  toEnvironmentName,
  toFlagName,
} from './settings.ts';
import { type SettingName, settingsTable } from './settings-table.ts';

const directory = mkdtempSync(join(tmpdir(), 'gw-settings-'));
after(() => rmSync(directory, { recursive: true }));

let files = 0;
function file(content: string, name = `${++files}.yaml`): { path: string; required: boolean } {
  const path = join(directory, name);
  writeFileSync(path, content);
  return { path, required: true };
}

/** Lines of the error message. */
function refusal(sources: SettingSources): string[] {
  try {
    readSettings(sources);
  } catch (error) {
    return (error as Error).message.split('\n');
  }
  return assert.fail('these settings were accepted');
}

test('an unset setting has its default', () => {
  const settings = readSettings({});
  for (const name of settingNames) assert.deepEqual(settings[name], settingsTable[name].default, name);
  assert.equal(Object.isFrozen(settings), true);
});

test('the file wins over defaults, the environment over the file, flags over the environment', () => {
  const sources: SettingSources = { file: file('gateway: { port: 1, host: f }\ndashboard.port: 1\nportal.port: 1\n') };
  sources.environment = { GW_DASHBOARD_PORT: '2', GW_PORTAL_PORT: '2', PATH: '/bin' };
  sources.flags = { 'portal-port': '3' };
  const settings = readSettings(sources);
  assert.equal(settings['gateway.port'], 1);
  assert.equal(settings['gateway.host'], 'f');
  assert.equal(settings['dashboard.port'], 2);
  assert.equal(settings['portal.port'], 3);
});

test('every setting has one name in the file, one in the environment and one flag, and no two share any', () => {
  for (const spell of [toEnvironmentName, toFlagName])
    assert.equal(new Set(settingNames.map(spell)).size, settingNames.length);
  for (const name of settingNames) {
    const { default: fallback } = settingsTable[name];
    const value = typeof fallback === 'object' && !Array.isArray(fallback) ? JSON.stringify(fallback) : `${fallback}`;
    readSettings({ environment: { [toEnvironmentName(name)]: value } });
    readSettings({ flags: { [toFlagName(name).slice(2)]: value, [name]: value } });
  }
});

test('settings are read from JSON as from YAML, with any indentation', () => {
  const content = JSON.stringify({ gateway: { port: 7 }, 'log.level': 'warn', management: { trusted_proxies: ['a'] } });
  for (const text of [content, JSON.stringify(JSON.parse(content), null, '\t')]) {
    const settings = readSettings({ file: file(text, 'gw.json') });
    assert.equal(settings['gateway.port'], 7);
    assert.equal(settings['log.level'], 'warn');
    assert.deepEqual(settings['management.trusted_proxies'], ['a']);
  }
});

test('each kind of setting parses values of a file and text', () => {
  const settings = readSettings({
    file: file('production: true\nthreads: 4\nmanagement.trusted_proxies: [10.0.0.0/8]\n'),
    environment: { GW_USERS_HIDE_ACCESS_KEYS: 'Yes', GW_KEYS_MIN_LENGTH: ' 8 ', GW_KEYS_AT_REST: 'hashed' },
  });
  assert.equal(settings.production, true);
  assert.equal(settings.threads, 4);
  assert.deepEqual(settings['management.trusted_proxies'], ['10.0.0.0/8']);
  assert.equal(settings['users.hide_access_keys'], true);
  assert.equal(settings['keys.min_length'], 8);
  assert.equal(settings['keys.at_rest'], 'hashed');
  const proxies = { GW_MANAGEMENT_TRUSTED_PROXIES: ' 10.0.0.0/8, ,::1 ' };
  assert.deepEqual(readSettings({ environment: proxies })['management.trusted_proxies'], ['10.0.0.0/8', '::1']);
  for (const [word, truth] of Object.entries({ true: true, on: true, 1: true, false: false, no: false, OFF: false }))
    assert.equal(readSettings({ environment: { GW_PRODUCTION: word } }).production, truth, word);
});

test('message overrides are read from a file and as JSON, and rejected with the code and member at fault', () => {
  const wordings = { key_not_found: { status: 401, message: 'No' }, internal: { status: 503 } };
  const written = file(
    'gateway:\n  error_messages:\n    key_not_found: { status: 401, message: "No" }\n    internal: { status: 503 }\n',
  );
  assert.deepEqual(readSettings({ file: written })['gateway.error_messages'], wordings);
  const flags = { 'gateway.error_messages': JSON.stringify(wordings) };
  assert.deepEqual(readSettings({ flags })['gateway.error_messages'], wordings);
  for (const [value, message] of Object.entries({
    '': 'must be JSON',
    '[]': 'must be values by name',
    '{"a":1}': 'must be values by name',
    '{"a":{}}': 'a must hold status or message',
    '{"a":{"status":200}}': 'a.status must be from 400 to 599',
    '{"a":{"status":"404"}}': 'a.status must be from 400 to 599',
    '{"a":{"message":1}}': 'a.message must be text',
    '{"a":{"status":404,"body":""}}': 'a may hold status and message only',
  }))
    assert.deepEqual(refusal({ flags: { 'gateway.error_messages': value } }), [
      `gateway.error_messages (flag --gateway.error_messages): ${message}`,
    ]);
});

test('names of headers and path segments are restricted to safe characters', () => {
  for (const value of ['X Version', 'x:y', 'x\r\ny', 'é'])
    assert.match(refusal({ flags: { 'gateway.version_header': value } })[0]!, /must be letters, digits and hyphens/);
  for (const value of ['', '..', '.x', 'a/b', 'a b', 'a%2e', '?'])
    assert.match(refusal({ flags: { 'gateway.health_name': value } })[0]!, /must be letters, digits and/, value);
});

test('an invalid value is rejected with the setting, its source and the rule', () => {
  const readFault = (name: string, value: string) => refusal({ environment: { [name]: value } });
  assert.deepEqual(readFault('GW_GATEWAY_PORT', '80a'), [
    'gateway.port (environment GW_GATEWAY_PORT): must be a whole number',
  ]);
  for (const value of ['', '1.5', '1e3', 'NaN', '9'.repeat(400)])
    assert.match(readFault('GW_GATEWAY_PORT', value)[0]!, /must be a whole number$/, value);
  assert.match(readFault('GW_GATEWAY_PORT', '65536')[0]!, /: must be from 0 to 65535$/);
  assert.match(readFault('GW_GATEWAY_PORT', '-1')[0]!, /: must be from 0 to 65535$/);
  assert.match(readFault('GW_DATABASE_MAX_CONNECTIONS', '0')[0]!, /: must be from 1 to 1000$/);
  assert.match(readFault('GW_LOG_LEVEL', 'loud')[0]!, /: must be one of debug, info, warn, error, silent$/);
  for (const value of ['', 'maybe', 'constructor', '__proto__'])
    assert.match(readFault('GW_PRODUCTION', value)[0]!, /: must be true or false$/, value);
  const path = file('gateway:\n  host: 5\nmanagement:\n  trusted_proxies: [1]\n');
  assert.deepEqual(refusal({ file: path }), [
    `gateway.host (${path.path}): must be text`,
    `management.trusted_proxies (${path.path}): must be a list of text`,
  ]);
});

test('errors of all sources are reported at once', () => {
  const lines = refusal({
    file: file('gateway: { port: x, hots: y }\n'),
    environment: { GW_LOG_LEVEL: 'loud', GW_PORTL_PORT: '1' },
    flags: { 'dashbord-port': '1', threads: '300' },
  });
  assert.equal(lines.length, 6);
});

test('an unknown setting is rejected with the closest known one, in every source', () => {
  const { path } = file('gateway: { prt: 1 }\nzzzzzzzzzzzzzzzzzzzz: 1\n', 'unknown.yaml');
  assert.deepEqual(refusal({ file: { path, required: true } }), [
    `gateway.prt (${path}): no such setting; did you mean gateway.port?`,
    `zzzzzzzzzzzzzzzzzzzz (${path}): no such setting (gw config lists them all)`,
  ]);
  assert.deepEqual(refusal({ environment: { GW_DATA_DRI: 'x' } }), [
    'data_dri (environment GW_DATA_DRI): no such setting; did you mean data_dir?',
  ]);
  assert.deepEqual(refusal({ flags: { 'gateway-prot': '1' } }), [
    'gateway-prot (flag --gateway-prot): no such setting; did you mean gateway.port?',
  ]);
  assert.deepEqual(refusal({ flags: Object.fromEntries([['__proto__', '1']]) }), [
    '__proto__ (flag --__proto__): no such setting (gw config lists them all)',
  ]);
});

test('a renamed setting is rejected under its old name with the new one, in every source', () => {
  const { path } = file('keys: { remembered: 5 }\n', 'renamed.yaml');
  assert.deepEqual(refusal({ file: { path, required: true } }), [
    `keys.remembered (${path}): this setting is now called keys.cache_size`,
  ]);
  assert.deepEqual(refusal({ environment: { GW_DATABASE_OUTAGE_COPY: 'true' } }), [
    'database_outage_copy (environment GW_DATABASE_OUTAGE_COPY): this setting is now called database.config_backup',
  ]);
  assert.deepEqual(refusal({ flags: { 'limits-hold-seconds': '1' } }), [
    'limits-hold-seconds (flag --limits-hold-seconds): this setting is now called limits.max_throttle_seconds',
  ]);
  for (const [old, name] of Object.entries(renamedSettings)) {
    assert.ok(settingNames.includes(name), name);
    assert.ok(!settingNames.includes(old as SettingName), old);
  }
});

test('service links of an orchestrator for services called gw are no settings', () => {
  const environment = {
    GW_PORT: 'tcp://10.0.0.7:8080',
    GW_PORT_8080_TCP_ADDR: '10.0.0.7',
    GW_SERVICE_HOST: '10.0.0.7',
    GW_SERVICE_PORT_HTTP: '8080',
    GW_PORTAL_PORT: 'tcp://10.0.0.7:3001',
    GW_PORTAL_PORT_3001_TCP: 'tcp://10.0.0.7:3001',
    GW_PORTAL_SERVICE_PORT: '3001',
    GW_TEST_LOGS: '/tmp',
    GW_DATA_DIR: undefined,
  };
  assert.equal(readSettings({ environment })['portal.port'], 3001);
});

test('a file named by the operator must exist; the default one may be absent or empty', () => {
  const path = join(directory, 'absent.yaml');
  assert.deepEqual(refusal({ file: { path, required: true } }), [`${path}: cannot be read (ENOENT)`]);
  assert.equal(readSettings({ file: { path, required: false } })['gateway.port'], 8080);
  assert.equal(readSettings({ file: file('# nothing\n') })['gateway.port'], 8080);
  assert.deepEqual(refusal({ file: { path: directory, required: false } }), [`${directory}: cannot be read (EISDIR)`]);
});

test('a malformed file is rejected with its line, and never quoted', () => {
  for (const content of [
    'a: 1\nadmin.secret: [canary\n',
    'admin.secret: *canary\n',
    '{"admin": "canary"',
    'a: b: canary',
  ]) {
    const { path, required } = file(content);
    const [line, ...rest] = refusal({ file: { path, required } });
    assert.ok(line!.startsWith(`${path}: cannot be read as YAML or JSON`), line!);
    assert.doesNotMatch(line!, /canary/);
    assert.equal(rest.length, 0);
  }
  for (const content of ['just text', '[1, 2]', '5']) {
    const { path, required } = file(content);
    assert.deepEqual(refusal({ file: { path, required } }), [`${path}: must hold settings by name`]);
  }
});

test('an invalid secret is not quoted in the error', () => {
  const lines = refusal({ file: file('admin.secret: { canary: canary2 }\ngateway.secret: 123454321\n') }).join();
  assert.match(lines, /admin\.secret .*must be text/);
  assert.doesNotMatch(lines, /canary|123454321/);
});

test('secrets are masked in listings, and unset ones are visible as unset', () => {
  const secrets = settingNames.filter(name => settingsTable[name].secret && settingsTable[name].default === '');
  assert.ok(secrets.length >= 8);
  const given = readSettings({ flags: Object.fromEntries(secrets.map(name => [name, 'canary'] as const)) });
  assert.doesNotMatch(JSON.stringify(maskSettings(given)), /canary/);
  for (const name of secrets) {
    assert.equal(maskSettings(given)[name], '********');
    assert.equal(maskSettings(readSettings({}))[name], '');
  }
  assert.equal(maskSettings(given)['gateway.port'], 8080);
});

test('the flags of true-or-false settings need no value, in any spelling', () => {
  for (const name of ['production', 'users.hide_access_keys', 'users-hide-access-keys'])
    assert.equal(isSwitch(name), true);
  for (const name of ['gateway-port', 'data-dir', 'nothing']) assert.equal(isSwitch(name), false);
});
