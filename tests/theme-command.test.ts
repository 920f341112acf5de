import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { openZip } from '#base/zip.ts';
import { runThemeCommand } from '#cli/theme-command.ts';

describe('gw theme', () => {
  const directory = mkdtempSync(join(tmpdir(), 'gw-theme-command-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  const at = (path: string) => join(directory, path);

  async function run(...args: string[]): Promise<string> {
    let text = '';
    await runThemeCommand(args, {
      environment: {},
      print(more) {
        text += more;
      },
      loadThemeTool: () => import('#portal/themes/theme-tool.ts'),
    });
    return text;
  }

  test('a new theme is valid, and its archive has its files but hidden ones and links', async () => {
    await run('new', at('acme'));
    assert.equal(JSON.parse(readFileSync(at('acme/theme.json'), 'utf8')).name, 'acme');
    mkdirSync(at('acme/.git'));
    writeFileSync(at('acme/.git/config'), 'secret');
    writeFileSync(at('secret.css'), 'secret');
    symlinkSync(at('secret.css'), at('acme/assets/link.css'));
    assert.match(await run('check', at('acme')), /acme is valid: 3 files/);
    await run('pack', at('acme'), '-o', at('acme.zip'));
    const { names } = openZip(readFileSync(at('acme.zip')), { maxFiles: 10, maxTotalBytes: 10_000 });
    assert.deepEqual([...names].sort(), ['README.md', 'assets/theme.css', 'theme.json']);
  });

  test('a theme that an upload refuses is neither valid nor packed, and the file is named', async () => {
    await run('new', at('broken'));
    mkdirSync(at('broken/views'));
    writeFileSync(at('broken/views/home.html'), '{{if}}');
    for (const args of [
      ['check', at('broken')],
      ['pack', at('broken'), '-o', at('broken.zip')],
    ])
      await assert.rejects(run(...args), /views\/home\.html/);
    assert.throws(() => readFileSync(at('broken.zip')), { code: 'ENOENT' });
  });

  test('folders that exist, do not exist or cannot name a theme, and unknown actions are refused', async () => {
    await assert.rejects(run('new', directory), /exists/);
    await assert.rejects(run('new', at('a theme')), /letters, digits/);
    await assert.rejects(run('new', at('default')), /cannot be replaced/);
    await assert.rejects(run('check', at('missing')), /missing/);
    await assert.rejects(run('pack', at('acme')), /-o FILE\.zip is missing/);
    await assert.rejects(run('chekc', at('acme')), /check/);
    assert.match(await run('--help'), /gw theme pack DIR -o FILE\.zip/);
  });
});
