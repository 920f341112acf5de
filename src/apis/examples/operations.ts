import { z } from 'zod';
import { addressProblems } from '#base/http-client/problems.ts';
import type { Settings } from '#base/settings.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { queryFlag } from '#operations/shapes.ts';
import { type ExampleServices, fetchDefinition, fetchReadme, readIndex, type Source } from './index-file.ts';
import { problem } from './problems.ts';

const indexHeader = 'x-gw-examples-index';
const repoHeader = 'x-gw-repo-url';
const indexAbout = 'Public URL of an index of examples, in place of apis.examples_index; requires apis:write';
const declared = { surface: 'dashboard', noun: 'examples', method: 'GET', permission: 'apis:read' } as const;
const indexProblems = [
  problem.index_invalid,
  problem.file_unavailable,
  problem.address_not_permitted,
  ...addressProblems,
];

type Call = { readonly actor: Actor; requestHeader(name: string): string | undefined };

/**
 * SSRF protection: an address in a header needs permission to write APIs, and is fetched as one that is not trusted.
 * Undefined where the request has no such header.
 */
function readNamedSource({ actor, requestHeader }: Call, header: string): Source | undefined {
  const url = requestHeader(header);
  if (!url) return undefined;
  if (!hasPermission(actor, 'apis:write')) throw problem.address_not_permitted({ detail: { header } });
  return { url, orgId: actor.orgId, audience: 'visitor' };
}

function findIndexSource(call: Call, settings: Settings): Source | undefined {
  const url = settings['apis.examples_index'];
  const configured: Source | undefined = url ? { url, orgId: call.actor.orgId, audience: 'operator' } : undefined;
  return readNamedSource(call, indexHeader) ?? configured;
}

export const listExamples = operation({
  ...declared,
  name: 'listExamples',
  path: '/api/examples',
  about: 'Lists the example APIs of an index; none where no index is configured.',
  headers: { [indexHeader]: indexAbout },
  returns: z.array(z.object({ location: z.string(), name: z.string(), shortDescription: z.string() })),
  problems: indexProblems,
  async handle(call, services: ExampleServices) {
    const index = findIndexSource(call, services.settings);
    if (!index) return [];
    const entries = await readIndex(services, index);
    return entries.map(({ location, name, shortDescription }) => ({ location, name, shortDescription }));
  },
});

export const getExample = operation({
  ...declared,
  name: 'getExample',
  path: '/api/examples/{location}',
  matchesRest: true,
  about: 'Returns an example API of an index, optionally with its description and its definition.',
  params: z.object({ location: z.string().describe('Location as in the list; may contain slashes') }),
  query: z.object({
    readme: queryFlag.optional().describe('Returns README.md too'),
    apiDef: queryFlag
      .optional()
      .describe('Returns apidef.json too: as oas if it is an OpenAPI document, else as api_definition'),
  }),
  headers: {
    [indexHeader]: indexAbout,
    [repoHeader]: 'Public URL of the folder of the examples, in place of that of the index; requires apis:write',
  },
  returns: z.object({
    location: z.string(),
    name: z.string(),
    description: z.string(),
    features: z.array(z.string()),
    min_version: z.string(),
    readme: z.string().optional(),
    api_definition: z.looseObject({}).optional(),
    oas: z.looseObject({}).optional(),
  }),
  problems: [problem.example_not_found, ...indexProblems],
  async handle(call, services: ExampleServices) {
    const { location } = call.params;
    const { query } = call;
    const repository = readNamedSource(call, repoHeader);
    const index = findIndexSource(call, services.settings);
    if (!index) throw problem.example_not_found();
    const entry = (await readIndex(services, index)).find(it => it.location === location);
    if (!entry) throw problem.example_not_found();
    const folder = repository ?? { ...index, url: new URL('.', index.url).href };
    const { shortDescription: _short, ...example } = entry;
    return {
      ...example,
      ...(query.readme && { readme: await fetchReadme(services, folder, location) }),
      ...(query.apiDef && (await fetchDefinition(services, folder, location))),
    };
  },
});

export const exampleOperations = [listExamples, getExample];
