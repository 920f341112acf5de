import { z } from 'zod';
import type { Ownership } from '#apis/owners/store.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
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

const searchText = z
  .string()
  .trim()
  .min(1, 'is required')
  .max(maxQueryCharacters)
  .regex(/^[^\n\r]*$/, 'must be one line')
  .describe('Part of a name or alias, or a whole id');
const kindsAbout = `Restricts the search to these kinds, comma-separated: ${kindNames.join(', ')}`;

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

const searchResults = z.object({
  results: z.array(searchGroup).describe('Kinds with matches'),
  not_permitted: z.array(z.enum(kindNames)).describe('Kinds left out: the caller may not read them'),
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
    q: searchText,
    kinds: kindList.optional().describe(kindsAbout),
  }),
  returns: searchResults,
  handle: ({ actor, query: { q, kinds = [] } }, services: SearchServices) => search(services, actor, q, kinds),
});

/** The same search with its text in the body: a whole key id is a credential, which logs of proxies would keep. */
export const searchWithBody = operation({
  surface: 'dashboard',
  noun: 'search',
  name: 'searchWithBody',
  changesNothing: true,
  method: 'POST',
  path: '/api/search',
  about:
    'Finds objects like GET /api/search, with the text in the body: for a whole key, which an address would leave in logs.',
  permission: 'any user',
  body: z.object({
    q: searchText,
    kinds: z.array(z.enum(kindNames)).max(kindNames.length).optional().describe('Restricts the search to these kinds'),
  }),
  returns: searchResults,
  handle: ({ actor, body: { q, kinds = [] } }, services: SearchServices) => search(services, actor, q, kinds),
});

async function search(
  { ownership, ...stores }: SearchServices,
  actor: Actor,
  text: string,
  kinds: readonly SearchableKindName[],
): Promise<z.input<typeof searchResults>> {
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
}

export const searchOperations = [searchObjects, searchWithBody];
