import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { adminTexts } from './admin-texts.ts';
import { deletedTexts } from './en/deleted.ts';
import { endpointTexts } from './en/endpoints.ts';
import { graphqlTexts } from './en/graphql.ts';
import { mcpTexts } from './en/mcp.ts';
import { signOnTexts } from './en/sign-on.ts';
import { systemTexts } from './en/system.ts';
import { versionTexts } from './en/versions.ts';
import { webhookTexts } from './en/webhooks.ts';
import { pluralize } from './pluralize.ts';
import { texts } from './texts.ts';

/** Verbs and pronouns that end as plurals do, after a name or a number that is no count. */
const otherWords = 'was|is|has|its|exists|becomes|depends|moves';
const pluralOfOne = new RegExp(`\\b1 (?:[a-z-]+ )?(?!(?:${otherWords})\\b)[a-z-]+[a-rt-z]s\\b`, 'i');

/** Texts of an object with each function called with `value` in place of every argument, by path. */
function listTexts(node: unknown, value: number | string, path = ''): readonly (readonly [string, string])[] {
  if (typeof node === 'function') return [[path, String(node(...Array.from({ length: node.length }, () => value)))]];
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, it]) => listTexts(it, value, `${path}/${name}`));
}

describe('Texts with a count', () => {
  test('one is followed by the singular in every text', () => {
    const areas = { deletedTexts, endpointTexts, graphqlTexts, mcpTexts, signOnTexts, systemTexts };
    const all = { texts, adminTexts, versionTexts, webhookTexts, ...areas };
    // A count is a number, or formatted: each function distinguishes one of the two.
    const formatted = new Map(listTexts(all, '1').filter(([, text]) => pluralOfOne.test(text)));
    const faults = listTexts(all, 1).filter(([path, text]) => formatted.has(path) && pluralOfOne.test(text));
    assert.deepEqual(faults, []);
  });

  test('other counts are followed by the plural, also with a separator', () => {
    assert.deepEqual(
      [pluralize(0, 'key'), pluralize(1, 'key'), pluralize('1', 'key'), pluralize('1,000', 'key')],
      ['0 keys', '1 key', '1 key', '1,000 keys'],
    );
    assert.equal(pluralize(2, 'try', 'tries'), '2 tries');
  });
});
