import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseXml, XmlError } from '../xml.ts';
import { TemplateError } from './error.ts';
import { functionTable } from './functions/table.ts';
import { compileTemplate } from './template.ts';

interface Golden {
  readonly template: string;
  readonly data?: unknown;
  readonly xml?: string;
  /** What Go, the function library and the XML converter gave; `error` where they failed. */
  readonly output?: string;
  readonly error?: string;
  /** Why ours is another, which is `ours`, or an error where that is missing. */
  readonly differs?: string;
  readonly ours?: string;
}

const file = new URL('../../../tests/goldens/templates/cases.json', import.meta.url);
const { data, cases } = JSON.parse(readFileSync(file, 'utf8')) as { data: unknown; cases: Golden[] };

function render({ template, data: own, xml }: Golden): string | undefined {
  try {
    return compileTemplate(template).render(xml === undefined ? structuredClone(own ?? data) : parseXml(xml));
  } catch (error) {
    if (error instanceof TemplateError || error instanceof XmlError) return undefined;
    throw error;
  }
}

describe('templates compared with Go', () => {
  test('every case renders as in Go, or differs for a listed reason', () => {
    assert.ok(cases.length > 1000);
    for (const golden of cases) {
      const wanted = golden.differs === undefined ? golden.output : golden.ours;
      assert.equal(render(golden), wanted, `${golden.template} ${golden.xml ?? ''}`);
    }
  });

  test('a case listed as different does differ', () => {
    for (const { template, differs, output, ours } of cases)
      if (differs !== undefined) assert.notEqual(ours, output, template);
  });

  test('every function has a case', () => {
    const words = new Set(cases.flatMap(({ template }) => template.match(/\w+/g) ?? []));
    assert.deepEqual(
      [...functionTable.keys()].filter(name => !words.has(name)),
      [],
    );
  });
});
