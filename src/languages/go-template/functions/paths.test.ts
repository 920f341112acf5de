import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TemplateError } from '../error.ts';
import { compileTemplate } from '../template.ts';

const rendered = (source: string, path: string) => compileTemplate(source).render({ path });

test('a path is no longer than paths are: climbing out of a long one would take for ever', () => {
  assert.equal(rendered('{{clean .path}}', 'a/../../b/'), '../b');
  for (const name of ['clean', 'dir', 'base', 'ext', 'isAbs', 'osClean', 'osDir', 'urlParse'])
    assert.throws(
      () => rendered(`{{${name} .path}}`, '../'.repeat(1_000_000)),
      (error: unknown) => error instanceof TemplateError && error.isLimitExceeded,
      name,
    );
});

test('many paths are paid for', () => {
  assert.throws(
    () => rendered('{{range until 1000}}{{clean $.path | len}}{{end}}', '../'.repeat(2000)),
    (error: unknown) => error instanceof TemplateError && error.isLimitExceeded,
  );
});
