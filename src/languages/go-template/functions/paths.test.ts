import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TemplateError } from '../error.ts';
import { compileTemplate } from '../template.ts';

const render = (source: string, path: string) => compileTemplate(source).render({ path });

test('paths longer than the bound are rejected: normalising them takes quadratic time', () => {
  assert.equal(render('{{clean .path}}', 'a/../../b/'), '../b');
  for (const name of ['clean', 'dir', 'base', 'ext', 'isAbs', 'osClean', 'osDir', 'urlParse'])
    assert.throws(
      () => render(`{{${name} .path}}`, '../'.repeat(1_000_000)),
      (error: unknown) => error instanceof TemplateError && error.isLimitExceeded,
      name,
    );
});

test('path functions are charged to the budget', () => {
  assert.throws(
    () => render('{{range until 1000}}{{clean $.path | len}}{{end}}', '../'.repeat(2000)),
    (error: unknown) => error instanceof TemplateError && error.isLimitExceeded,
  );
});
