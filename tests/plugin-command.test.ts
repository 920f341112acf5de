import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { runPluginCommand } from '#cli/plugin-command.ts';
import { readBundle } from '#gateway/plugins/bundles/manifest.ts';
import { createTemplate } from '#gateway/plugins/tool/templates.ts';

describe('gw plugin', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-plugin-command-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  async function run(...args: string[]): Promise<{ text: string; code: number }> {
    let [text, code] = ['', 0];
    await runPluginCommand(args, {
      environment: {},
      print(more) {
        text += more;
      },
      setExitCode(value) {
        code = value;
      },
      loadPluginTool: () => import('#gateway/plugins/tool/plugin-tool.ts'),
    });
    return { text, code };
  }

  test('new plugins are valid, and their hooks run', async () => {
    for (const driver of ['typescript', 'javascript']) {
      const { file, text } = createTemplate('mine', driver);
      const path = write(file, text);
      assert.deepEqual(await run('check', path), { text: `${file} is valid\n`, code: 0 }, driver);
      const hook = driver === 'typescript' ? 'pre' : 'mine';
      const { changes } = JSON.parse((await run('test', path, '--hook', hook)).text);
      assert.deepEqual(changes.SetHeaders, { 'X-Plugin': 'GET' }, driver);
    }
    await assert.rejects(run('new', '../mine'), /letters, digits/);
    assert.equal(existsSync(join(directory, '../mine.ts')), false);
  });

  test('check prints faults with file and line', async () => {
    const { text, code } = await run('check', write('broken.ts', 'export const a = 1;\nexport const pre = ((;\n'));
    assert.deepEqual([/broken\.ts:2: /.test(text), code], [true, 1], text);
    const syntax = write(
      'syntax.js',
      'const mw = new GwJS.GwMiddleware.NewMiddleware({});\nmw.NewProcessRequest(function ( {',
    );
    assert.match((await run('check', syntax)).text, /^syntax\.js:\d+: /);
    assert.match((await run('check', write('none.js', ''))).text, /has no hook/);
  });

  test('test runs a hook with an exchange, and with the responses of other servers', async () => {
    const file = write(
      'ask.ts',
      `export const pre = async (request, context) => {
  const { body } = await context.fetch('http://other.example/');
  context.log('got ' + body);
  return { status: 201, body: { name: request.query.get('name'), body, word: context.config.word } };
};\n`,
    );
    const exchange = { request: { url: '/x?name=Ann' }, config: { word: 'hi' }, responses: [{ body: 'answer' }] };
    const { text } = await run('test', file, '--exchange', write('exchange.json', JSON.stringify(exchange)));
    const { changes, logs } = JSON.parse(text);
    assert.deepEqual(JSON.parse(changes.ReturnOverrides.ResponseBody), { name: 'Ann', body: 'answer', word: 'hi' });
    assert.deepEqual(logs, ['got answer']);
    await assert.rejects(run('test', file), /calls GwMakeHttpRequest .*add its result to responses/);
    await assert.rejects(run('test', file, '--exchange', write('bad.json', '{"x":1}')), /an exchange has no x/);
  });

  test('bundle writes an archive that the gateway accepts, signed with the key', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = write('key.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const folder = join(directory, 'bundle');
    mkdirSync(join(folder, 'lib'), { recursive: true });
    writeFileSync(join(folder, 'pre.ts'), `export const pre = () => undefined;\n`);
    writeFileSync(join(folder, 'lib', 'a.ts'), `export const a = 1;\n`);
    const middleware = { driver: 'typescript', pre: [{ name: 'pre', path: 'pre.ts' }] };
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ custom_middleware: middleware }));
    const out = join(directory, 'out.zip');
    assert.match((await run('bundle', folder, '-o', out, '--key', key)).text, /out\.zip: \d+ bytes, signed/);
    assert.deepEqual([...readBundle(readFileSync(out), publicKey).files.keys()], ['lib/a.ts', 'pre.ts']);
    await assert.rejects(run('bundle', folder), /-o FILE\.zip is missing/);
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ custom_middleware: { driver: 'typescript' } }));
    await assert.rejects(run('bundle', folder, '-o', out), /has no hook/);
    await assert.rejects(run('pack', folder), /has no action pack/);
  });
});
