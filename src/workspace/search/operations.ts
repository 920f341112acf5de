import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { type SearchableKindName, type SearchStores, searchableKinds, searchKind, toHiddenApiIds } from './kinds.ts';

interface SearchServices extends SearchStores {
  readonly ownership: Ownership;
}

const maxItemsPerKind = 10;
const maxQueryCharacters = 200;

const kindNames = Object.keys(searchableKinds) as [SearchableKindName, ...SearchableKindName[]];
const kindList = z
  .string()
  .max(500)
  .transform(text => [...new Set(text.split(',').map(name => name.trim()))].filter(Boolean))
  .pipe(z.array(z.enum(kindNames)));

const searchGroup = z.object({
  kind: z.enum(kindNames),
  items: z.array(
    z.object({
      id: z.string().describe('Id that the operations of the kind accept; of a key its hash'),
      name: z.string(),
      detail: z
        .string()
        .describe(
          'Listen path of an API, state of a policy, API of an OAuth client, host of a webhook, name of a user, …',
        ),
    }),
  ),
  more: z.boolean().describe('There are more matches than the items'),
});

export const searchObjects = operation({
  surface: 'dashboard',
  noun: 'search',
  name: 'searchObjects',
  method: 'GET',
  path: '/api/search',
  about:
    'Finds objects of every kind that the caller may read by a part of their name, case-insensitive: at most 10 of each kind, in the order of their names.',
  permission: 'any user',
  query: z.object({
    q: z
      .string()
      .trim()
      .min(1, 'is required')
      .max(maxQueryCharacters)
      .regex(/^[^\n\r]*$/, 'must be one line')
      .describe('Part of a name or alias, or a whole id'),
    kinds: kindList
      .optional()
      .describe(`Restricts the search to these kinds, comma-separated: ${kindNames.join(', ')}`),
  }),
  returns: z.object({
    results: z.array(searchGroup).describe('Kinds with matches'),
    not_permitted: z.array(z.enum(kindNames)).describe('Kinds left out: the caller may not read them'),
  }),
  async handle({ actor, query: { q: text, kinds = [] } }, { ownership, ...stores }: SearchServices) {
    const requested = kinds.length > 0 ? kindNames.filter(name => kinds.includes(name)) : kindNames;
    const permitted = requested.filter(name => hasPermission(actor, searchableKinds[name].permission));
    const hidden = toHiddenApiIds(await ownership.hiddenApis(actor));
    const results: z.input<typeof searchGroup>[] = [];
    for (const kind of permitted) {
      const query = { orgId: actor.orgId, text, maxItems: maxItemsPerKind, hidden };
      const { items, more } = await searchKind(stores, kind, query);
      if (items.length === 0 && !more) continue;
      results.push({ kind, items, more });
    }
    return { results, not_permitted: requested.filter(name => !permitted.includes(name)) };
  },
});

export const searchOperations = [searchObjects];
