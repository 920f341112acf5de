import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { LoggedCall } from '#analytics/schema.ts';
import { writeZip } from '#base/zip-writer.ts';
import { startApp, type TestApp } from './support/app.ts';
import { type BothFormats, type Published, publishBoth } from './support/both-formats.ts';
import { findUnavailableReason, openApi, publish } from './support/traffic.ts';
import { eventually, startUpstream, type Upstream } from './support/upstream.ts';

const encode = (code: string) => Buffer.from(code).toString('base64');

/** Plugin of analytics records, in both formats. */
function recordPlugin(source: { code?: string; path?: string }, driver = 'javascript', data = {}): BothFormats {
  const given = source.code === undefined ? source : { path: '', code: encode(source.code) };
  const { path: plugin_path = '', ...code } = given as { path?: string; code?: string };
  return {
    classic: {
      custom_middleware: { driver },
      config_data: data,
      enable_detailed_recording: true,
      analytics_plugin: { enable: true, func_name: 'change', plugin_path, ...code },
    },
    oas: {
      server: { detailedActivityLogs: { enabled: true } },
      middleware: {
        global: {
          pluginConfig: { driver, data: { enabled: true, value: data } },
          trafficLogs: { enabled: true, plugins: [{ enabled: true, functionName: 'change', ...given }] },
        },
      },
    },
  };
}

const script = (body: string) => `function change(record, config) { ${body} }`;

describe('Plugins of analytics records', () => {
  let app: TestApp;
  let upstream: Upstream;
  const directory = mkdtempSync(join(tmpdir(), 'gw-record-plugins-'));
  const lines: string[] = [];
  before(async () => {
    const settings = {
      'plugins.directory': directory,
      'plugins.trusted': 'trusted.ts',
      'plugins.timeout_ms': '3000',
      'plugins.bundles.base_url': pathToFileURL(directory).href,
    };
    [app, upstream] = await Promise.all([
      startApp('sqlite', { settings, onTrafficLog: text => void lines.push(...text.split('\n')) }),
      startUpstream(),
    ]);
  });
  after(async () => {
    await app?.close();
    await upstream?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const waitForLogs = ({ apiId }: Pick<Published, 'apiId'>, count = 1) =>
    eventually(async () => {
      const { body } = await app.ask('GET', `/api/logs?start=0&end=9999999999&api_id=${apiId}`);
      assert.equal(body.data.length, count);
      return body.data as LoggedCall[];
    });
  const call = async ({ url }: Pick<Published, 'url'>, path = '/people/ann?q=1') => {
    const reply = await fetch(url + path, { headers: { 'user-agent': 'curl/8 ann' } });
    assert.equal(reply.status, 200);
    await reply.text();
  };
  const failuresOf = (apiId: string) =>
    lines.filter(it => it.includes('plugin of analytics records failed') && it.includes(apiId));

  const masked = `record.path = record.path.replace('ann', '*'); record.raw_path = ''; record.original_path = '';
    record.ip_address = ''; record.user_agent = ''; record.raw_request = ''; record.raw_response = '';
    Object.assign(record, { response_code: 299 });`;

  const sources: Record<string, () => BothFormats> = {
    'a script in JavaScript': () =>
      recordPlugin({ code: script(`${masked} record.tags.push(config.config_data.tag);`) }, 'javascript', { tag: 't' }),
    'a script of the driver otto that returns another record': () =>
      recordPlugin(
        { code: script(`${masked} record.tags = [config.config_data.tag]; return _.clone(record);`) },
        'otto',
        { tag: 't' },
      ),
    'a module in TypeScript': () =>
      recordPlugin(
        {
          code: `import type { RecordHook } from 'gatewright/plugin';
            export const change: RecordHook<{ tag: string }> = (record, context) => { ${masked} record.tags.push(context.config.tag); };`,
        },
        'typescript',
        { tag: 't' },
      ),
    'an asynchronous module in TypeScript': () =>
      recordPlugin(
        {
          code: `export async function change(record, { config }) { await null; ${masked} record.tags.push(config.tag); }`,
        },
        'typescript',
        { tag: 't' },
      ),
    'a trusted file': () => {
      const code = `import { setImmediate } from 'node:timers/promises';
        export async function change(record: Record<string, string>, { config }: { config: { tag: string } }) { await setImmediate(); ${masked} (record.tags as unknown as string[]).push(config.tag); }`;
      writeFileSync(join(directory, 'trusted.ts'), code);
      return recordPlugin({ path: 'trusted.ts' }, 'typescript', { tag: 't' });
    },
    'a bundle': () => {
      const file = Buffer.from(script(`${masked} record.tags.push('t');`));
      const manifest = {
        file_list: ['record.js'],
        custom_middleware: { driver: 'javascript', traffic_logs: { name: 'change', path: 'record.js' } },
        checksum: createHash('sha256').update(file).digest('hex'),
      };
      const archive = writeZip(
        new Map([
          ['manifest.json', Buffer.from(JSON.stringify(manifest))],
          ['record.js', file],
        ]),
      );
      writeFileSync(join(directory, 'records.zip'), archive);
      return {
        classic: { custom_middleware_bundle: 'records.zip' },
        oas: {
          middleware: {
            global: {
              pluginConfig: { bundle: { enabled: true, path: 'records.zip' } },
              trafficLogs: { enabled: true },
            },
          },
        },
      };
    },
  };
  for (const [what, createDefinitions] of Object.entries(sources))
    test(`${what} changes a record before it is stored`, async () => {
      for (const api of await publishBoth(app, upstream, createDefinitions())) {
        await call(api);
        const [found] = (await waitForLogs(api)) as [LoggedCall];
        const { path, raw_path, ip_address, user_agent, raw_request, response_code, tags } = found;
        assert.deepEqual(
          [path, raw_path, ip_address, user_agent, raw_request, response_code],
          ['/people/*', '', '', '', '', 299],
          api.format,
        );
        assert.ok(tags.includes('t'), api.format);
        assert.doesNotMatch(JSON.stringify(found), /ann/);
      }
    });

  const failures: Record<string, [body: string, reason: RegExp]> = {
    'throws an exception': [`throw new Error('broken');`, /change\.js:1: broken/],
    'does not end': ['for (;;) {}', /did not end within/],
    'changes the organisation': [`record.org_id = 'another';`, /org_id of a record cannot be changed/],
    'sets an unknown member': [`record.ip_adress = '';`, /no member ip_adress; did you mean ip_address/],
    'sets a wrong type': ['record.path = 1;', /path must be a string/],
    'sets a separator into a tag': [`record.tags.push('a' + String.fromCharCode(0));`, /tags must be an array/],
    'replaces the results by a prototype': [
      'Object.prototype.toJSON = function () { return Array.isArray(this) ? this : null; };',
      /the plugin returned no record/,
    ],
    'calls another server': [`GwMakeHttpRequest('{}');`, /GwMakeHttpRequest is not available/],
  };
  for (const [what, [body, reason]] of Object.entries(failures))
    test(`a record whose plugin ${what} is stored without texts of the client, and the failure is logged`, async () => {
      const [api] = (await publishBoth(app, upstream, recordPlugin({ code: script(body) }))) as [Published];
      await call(api);
      const [found] = (await waitForLogs(api)) as [LoggedCall];
      assert.deepEqual([found.method, found.response_code, found.path], ['GET', 200, 'other']);
      assert.doesNotMatch(JSON.stringify(found), /ann|127\.0\.0\.1/);
      assert.equal(found.raw_request, '');
      await eventually(() => assert.match(failuresOf(api.apiId).join(''), reason));
      assert.equal(failuresOf(api.apiId).length, 1);
    });

  test('the failure of one record leaves the others of the same call as the plugin changed them', async () => {
    const definitions = recordPlugin({
      code: script(`if (record.path === '/bad') throw new Error('x'); record.alias = 'seen';`),
    });
    const [api] = (await publishBoth(app, upstream, definitions)) as [Published];
    await Promise.all(['/a', '/bad', '/b'].map(path => call(api, path)));
    const found = await waitForLogs(api, 3);
    assert.deepEqual(found.map(({ path, alias }) => `${path} ${alias}`).sort(), ['/a seen', '/b seen', 'other ']);
  });

  test('requests do not wait for a plugin that does not end', async () => {
    const slow = recordPlugin({ code: script('for (;;) {}') });
    const [api] = (await publishBoth(app, upstream, slow)) as [Published];
    for (let i = 0; i < 8; i++) await call(api);
    // All of them were answered while the plugin of the first records still ran.
    assert.equal(failuresOf(api.apiId).length, 0);
    await waitForLogs(api, 8);
  });

  test('an API that enables a second plugin of records is not served', async () => {
    const first = { enabled: true, functionName: 'change', code: encode(script('')) };
    const createDefinitions = (enabled: boolean): BothFormats => ({
      classic: {},
      oas: { middleware: { global: { trafficLogs: { enabled: true, plugins: [first, { ...first, enabled }] } } } },
    });
    const [, several] = (await publishBoth(app, upstream, createDefinitions(true))) as [Published, Published];
    assert.match(await findUnavailableReason(app, `${several.url}/x`), /several plugins of analytics records/);
    const [, one] = (await publishBoth(app, upstream, createDefinitions(false))) as [Published, Published];
    await call(one);
  });

  const unavailable: Record<string, [definitions: BothFormats, reason: RegExp]> = {
    'a file of another runtime': [recordPlugin({ path: 'mask.so' }), /mask\.so is not a \.js file/],
    'a file outside of the directory': [recordPlugin({ path: '../x.js' }), /not below plugins\.directory/],
    'the driver grpc': [recordPlugin({ path: 'x.js' }, 'grpc'), /not supported with the driver grpc/],
    'the driver goplugin': [recordPlugin({ path: 'x.so' }, 'goplugin'), /driver goplugin/],
    'neither file nor code': [recordPlugin({ path: '' }), /neither file nor code/],
  };
  for (const [what, [definitions, reason]] of Object.entries(unavailable))
    test(`an API whose plugin of records has ${what} is not served, and its records have no texts`, async () => {
      const definition = openApi(upstream, definitions.classic);
      const url = await publish(app, definition);
      assert.match(await findUnavailableReason(app, `${url}/people/ann`), reason);
      const [found] = (await waitForLogs({ apiId: definition.api_id })) as [LoggedCall];
      assert.doesNotMatch(JSON.stringify(found), /people|127\.0\.0\.1/);
    });
});
