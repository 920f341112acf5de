import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { statusResponse, toStatus } from '#operations/shapes.ts';
import type { ApiServices } from '../api/changes.ts';
import { problem as apisProblem } from '../problems.ts';
import { problem } from './problems.ts';
import { refreshSubgraphs } from './refresh-subgraphs.ts';
import type { SubgraphServices } from './subgraph-sources.ts';

const maxNames = 200;

export const updateSubgraphs = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'updateSubgraphs',
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/{apiId}/graphql/subgraphs',
  about:
    'Fetches the SDL of the subgraphs of a supergraph, { _service { sdl } } of their servers or subgraph.sdl of APIs with gw://, and composes them again. On an error of one of them the supergraph does not change.',
  permission: 'apis:write',
  params: z.object({ apiId: z.string().describe('Public or database id of the API') }),
  body: z.object({
    subgraphs: z
      .array(z.string().max(200))
      .min(1)
      .max(maxNames)
      .optional()
      .describe('Names of the subgraphs to fetch; all if absent'),
    replace_merged_sdl: z
      .boolean()
      .optional()
      .describe('Replaces supergraph.merged_sdl, the schema that clients see, by the composed one'),
  }),
  example: {},
  returns: statusResponse.extend({
    changed: z.boolean().describe('The definition was changed'),
    subgraphs: z
      .array(z.object({ name: z.string(), changed: z.boolean() }))
      .describe('The subgraphs that were fetched'),
  }),
  problems: [
    apisProblem.definition_not_found,
    apisProblem.api_not_owned,
    problem.api_not_supergraph,
    problem.subgraph_unknown,
    problem.subgraphs_not_fetched,
  ],
  async handle({ actor, params: { apiId }, body, audit }, services: ApiServices & SubgraphServices) {
    audit(apiId);
    const stored = await services.apis.get(actor.orgId, apiId);
    if (!stored) throw apisProblem.definition_not_found();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(({ id }) => id === stored.id)) throw apisProblem.api_not_owned();
    audit(stored.api_id);
    const hiddenIds = hidden.map(({ id }) => id);
    const options = { actor, hiddenIds, names: body.subgraphs, replacesMergedSdl: body.replace_merged_sdl === true };
    const { changed, subgraphs } = await refreshSubgraphs(services, stored, options);
    return { ...toStatus(changed ? 'Subgraphs updated' : 'Subgraphs are unchanged', stored.id), changed, subgraphs };
  },
});
