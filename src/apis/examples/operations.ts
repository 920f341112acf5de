import { z } from 'zod';
import type { Settings } from '#base/settings.ts';
import { operation } from '#operations/operation.ts';
import { addressProblems } from '../oas/plain-document.ts';
import { type ExampleServices, fetchDefinition, fetchReadme, readIndex } from './index-file.ts';
import { problem } from './problems.ts';

interface Services extends ExampleServices {
  settings: Settings;
}

const indexHeader = 'x-gw-examples-index';
const repoHeader = 'x-gw-repo-url';
const indexAbout = 'Address of the index of examples, instead of apis.examples_index';
const declared = { surface: 'dashboard', noun: 'examples', method: 'GET', permission: 'apis:read' } as const;
const indexProblems = [problem.index_invalid, problem.file_unavailable, ...addressProblems];

export const listExamples = operation({
  ...declared,
  name: 'listExamples',
  path: '/api/examples',
  about: 'Lists the example APIs of an index; none where no index is configured.',
  headers: { [indexHeader]: indexAbout },
  returns: z.array(z.object({ location: z.string(), name: z.string(), shortDescription: z.string() })),
  problems: indexProblems,
  async handle({ actor, requestHeader }, services: Services) {
    const url = requestHeader(indexHeader) || services.settings['apis.examples_index'];
    if (!url) return [];
    const entries = await readIndex(services, actor.orgId, url);
    return entries.map(({ location, name, shortDescription }) => ({ location, name, shortDescription }));
  },
});

const flag = z
  .enum(['true', 'false', '1', '0', ''])
  .transform(text => text === 'true' || text === '1')
  .optional();

export const getExample = operation({
  ...declared,
  name: 'getExample',
  path: '/api/examples/{location}',
  matchesRest: true,
  about: 'Reads an example API of an index, with its description and its definition where they are asked for.',
  params: z.object({ location: z.string().describe('As in the list; it may hold slashes') }),
  query: z.object({
    readme: flag.describe('Also returns its README.md'),
    apiDef: flag.describe(
      'Also returns its apidef.json: as oas where it is an OpenAPI document, else as api_definition',
    ),
  }),
  headers: { [indexHeader]: indexAbout, [repoHeader]: 'Folder of the examples; that of the index unless given' },
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
  async handle({ actor, params: { location }, query, requestHeader }, services: Services) {
    const url = requestHeader(indexHeader) || services.settings['apis.examples_index'];
    if (!url) throw problem.example_not_found();
    const entry = (await readIndex(services, actor.orgId, url)).find(it => it.location === location);
    if (!entry) throw problem.example_not_found();
    const folder = requestHeader(repoHeader) || new URL('.', url).href;
    const { shortDescription: _short, ...example } = entry;
    return {
      ...example,
      ...(query.readme && { readme: await fetchReadme(services, actor.orgId, folder, location) }),
      ...(query.apiDef && (await fetchDefinition(services, actor.orgId, folder, location))),
    };
  },
});

export const exampleOperations = [listExamples, getExample];
