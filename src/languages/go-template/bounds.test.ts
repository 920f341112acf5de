import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TemplateError } from './error.ts';
import { compileTemplate } from './template.ts';

const isLimitExceeded = (error: unknown) => error instanceof TemplateError && error.isLimitExceeded;

/** The fewest steps with which the template renders. */
function countSteps(source: string, data: unknown): number {
  const template = compileTemplate(source);
  const renders = (steps: number) => {
    try {
      template.render(data, { maxSteps: steps });
      return true;
    } catch (error) {
      if (isLimitExceeded(error)) return false;
      throw error;
    }
  };
  let [below, enough] = [0, 1];
  while (!renders(enough)) [below, enough] = [enough, enough * 2];
  while (enough - below > 1) {
    const middle = (below + enough) >> 1;
    if (renders(middle)) enough = middle;
    else below = middle;
  }
  return enough;
}

describe('template step budget', () => {
  const size = 16 * 1024;
  const long = 'aB'.repeat(size / 2);
  const needle = `${'a'.repeat(50)}b${'a'.repeat(50)}`;

  test('a function of each character costs steps in proportion to the characters', () => {
    const sources = [
      '{{trimAll "aB" .long}}',
      '{{trimAll .long "x"}}',
      '{{trim .long}}',
      '{{upper .long}}',
      '{{lower .long}}',
      '{{title .long}}',
      '{{untitle .long}}',
      '{{swapcase .long}}',
      '{{snakecase .long}}',
      '{{kebabcase .long}}',
      '{{camelcase .long}}',
      '{{nospace .long}}',
      '{{initials .long}}',
      '{{trunc 1 .long}}',
      '{{substr 0 1 .long}}',
      '{{abbrev 5 .long}}',
      '{{abbrevboth 5 9 .long}}',
      '{{wrap 5 .long}}',
      '{{wrapWith 5 "-" .long}}',
      '{{contains .needle .long}}',
      '{{contains .long .needle}}',
      '{{replace .needle "" .long}}',
      '{{replace "" "-" .long}}',
      '{{split .needle .long}}',
      '{{splitn .needle 2 .long}}',
      '{{splitList "a" .long}}',
      '{{indent 1 .long}}',
      '{{shuffle .long}}',
      '{{adler32sum .long}}',
      '{{b32enc .long}}',
      '{{regexMatch "x" .long}}',
      '{{regexFind "x" .long}}',
      '{{regexReplaceAll "x" .long ""}}',
      '{{regexSplit "x" .long -1}}',
      '{{regexQuoteMeta .long}}',
      '{{printf "%x" .long}}',
      '{{printf "%q" .long}}',
      '{{printf "%99999s" .long}}',
      '{{quote .long}}',
      '{{html .long}}',
      '{{js .long}}',
      '{{urlquery .long}}',
    ];
    for (const source of sources) {
      const steps = countSteps(source, { long, needle });
      assert.ok(steps >= size / 16, `${source} took ${steps} steps`);
    }
  });

  test('a search takes linear time whatever its needle', () => {
    const half = 'a'.repeat(50_000);
    const data = { plain: 'a'.repeat(1_000_000), needle: `${half}b${half}` };
    for (const source of [
      '{{contains .needle .plain}}',
      '{{len (replace .needle "" .plain)}}',
      '{{len (split .needle .plain)}}',
      '{{len (splitList .needle .plain)}}',
      '{{len (splitn .needle 3 .plain)}}',
    ])
      compileTemplate(source).render(data);
  });

  test('long sets, needles and lists of names do not multiply', () => {
    const set = 'a'.repeat(400_000);
    const plain = `${'b'.repeat(400_000)}a`;
    assert.equal(compileTemplate('{{len (trimAll .set .plain)}}').render({ set, plain }), '400000');
    const names = Array.from({ length: 20_000 }, (_, at) => `k${at}`);
    const source = `{{len (pick .map ${names.map(name => JSON.stringify(name)).join(' ')})}}`;
    assert.equal(compileTemplate(source).render({ map: Object.fromEntries(names.map(name => [name, 1])) }), '20000');
  });

  test('a long pattern costs more for each character', () => {
    const pattern = `${'a'.repeat(500)}b`;
    for (const name of ['regexMatch', 'regexFind'])
      assert.ok(countSteps(`{{${name} .pattern .long}}`, { long, pattern }) >= (7 * size) / 16, name);
  });

  test('equal texts inside lists cost what comparing them takes', () => {
    const [one, other] = ['a', 'a'].map(it => it.repeat(size));
    for (const source of [
      '{{deepEqual .one .other}}',
      '{{has .text .one}}',
      '{{without .one .text}}',
      '{{uniq .both}}',
    ]) {
      const steps = countSteps(source, { one: [one], other: [other], text: other, both: [one, other] });
      assert.ok(steps >= size / 256, `${source} took ${steps} steps`);
    }
  });

  test('a search finds what indexOf finds', () => {
    const plain = `${'ab'.repeat(30)}c${'ab'.repeat(30)}`;
    for (const old of [
      'a',
      'ab',
      'abc',
      'ab'.repeat(12),
      `${'ab'.repeat(9)}c`,
      `b${'ab'.repeat(9)}ca`,
      'ba'.repeat(30),
    ])
      assert.equal(
        compileTemplate('{{replace .old "-" .plain}}').render({ old, plain }),
        plain.replaceAll(old, '-'),
        old,
      );
  });

  test('a source declares a bounded number of variables', () => {
    assert.throws(() => compileTemplate('{{$x := 1}}'.repeat(1001)), /more than 1000 variables/);
    assert.throws(
      () => compileTemplate(Array.from({ length: 1001 }, (_, at) => `{{$x${at} := 1}}`).join('')),
      /variables/,
    );
  });
});
