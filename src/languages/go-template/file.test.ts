import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readTemplateFile } from './file.ts';

const outside = mkdtempSync(join(tmpdir(), 'gw-templates-'));
const directory = join(outside, 'inside');
after(() => rmSync(outside, { recursive: true }));
mkdirSync(join(directory, 'more'), { recursive: true });
writeFileSync(join(outside, 'secret'), 'secret');
writeFileSync(join(directory, 'a.tmpl'), 'A');
writeFileSync(join(directory, 'more', 'b.tmpl'), 'B');
symlinkSync(join(outside, 'secret'), join(directory, 'link'));

test('only template files below the directory are read', () => {
  assert.equal(readTemplateFile(directory, 'a.tmpl'), 'A');
  assert.equal(readTemplateFile(directory, './more/b.tmpl'), 'B');
  assert.equal(readTemplateFile(directory, join(directory, 'a.tmpl')), 'A');
  for (const name of ['../secret', 'more/../../secret', 'link', join(outside, 'secret'), '.', ''])
    assert.throws(() => readTemplateFile(directory, name), /is not below templates\.directory/, name);
  assert.throws(() => readTemplateFile(directory, 'missing'), /missing cannot be read: ENOENT/);
  assert.throws(() => readTemplateFile(directory, 'more'), /more is not a file/);
  assert.throws(() => readTemplateFile('', 'a.tmpl'), /names no directory/);
});
