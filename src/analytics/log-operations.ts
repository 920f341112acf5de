import { z } from 'zod';
import type { FindApi } from '#access/api-lookup.ts';
import { resolvePublicApiId } from '#access/api-lookup.ts';
import type { Settings } from '#base/settings.ts';
import type { Vault } from '#base/vault.ts';
import { operation } from '#operations/operation.ts';
import { optionalPageNumber, queryFlag, toCsvPageRequest, unixSeconds } from '#operations/shapes.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { findKeyHashes, type KeyFilterServices } from './key-filter.ts';
import { formatLogCsv } from './log-csv.ts';
import { createLogIds } from './log-ids.ts';
import type { LogStore } from './log-store.ts';
import { problem } from './problems.ts';
import { listedCall, logPage } from './schema.ts';
import { tagFilter } from './tag-filter.ts';

interface LogServices extends KeyFilterServices {
  logs: LogStore;
  findApi: FindApi;
  vault: Vault;
  settings: Settings;
}

/** Filters of single requests. */
export const logFilters = {
  api_id: z.string().max(1000).optional(),
  api_version: z.string().max(1000).optional().describe('Version of the API that served the request'),
  key: z
    .string()
    .max(1000)
    .optional()
    .describe('Hash of a key, or with keys:read a part of an alias, a user name or a hash; never a key'),
  tags: tagFilter.optional().describe('Tags that a request has, comma-separated, all of them'),
  status: z.coerce.number().int().min(0).max(999).optional(),
  errors: queryFlag.default(false).describe('Restricts the list to failed requests'),
  graphql_operation_type: z.enum(['query', 'mutation', 'subscription']).optional(),
  graphql_operation_name: z.string().min(1).max(256).optional().describe('Name of a GraphQL operation'),
};

export const listLogs = operation({
  name: 'listLogs',
  surface: 'dashboard',
  method: 'GET',
  path: '/api/logs',
  noun: 'analytics',
  permission: 'log:read',
  about: 'Lists single requests to APIs of the caller’s organisation, newest first.',
  query: z.object({
    start: unixSeconds.describe('Unix seconds'),
    end: unixSeconds.describe('Unix seconds, inclusive'),
    ...logFilters,
    p: optionalPageNumber,
    type: z
      .enum(['json', 'csv', 'ndjson'])
      .default('json')
      .describe(
        'csv returns all items as CSV, without raw requests and responses; ndjson all items as one JSON object per line',
      ),
  }),
  returns: logPage,
  toCsv: formatLogCsv,
  toNdjson: ({ data }) => data,
  async handle({ actor, query }, services: LogServices) {
    const { start, end, api_id, key, status, tags, errors } = query;
    if (end < start) throw createInvalidProblem([{ path: 'end', message: 'must not be before start' }]);
    const { keyHashes, isCut } = await findKeyHashes(services, actor, key);
    const found = await services.logs.page(
      {
        orgId: actor.orgId,
        hiddenApis: (await services.ownership.findHidden(actor)).apiIds,
        from: start * 1000,
        to: end * 1000 + 999,
        apiId: api_id === undefined ? undefined : await resolvePublicApiId(services.findApi, actor.orgId, api_id),
        keyHashes,
        status,
        tags,
        failed: errors,
        graphqlType: query.graphql_operation_type,
        graphqlName: query.graphql_operation_name,
        version: query.api_version,
      },
      toCsvPageRequest(query, services.settings['management.page_size']),
    );
    const { format } = createLogIds(services.vault, actor.orgId);
    const data = found.items.map(it => ({ id: format(it), ...it.call }));
    return { data, pages: found.pages, ...(isCut ? { keys_cut: true } : {}) };
  },
});

export const getLog = operation({
  name: 'getLog',
  surface: 'dashboard',
  method: 'GET',
  path: '/api/logs/{logId}',
  noun: 'analytics',
  permission: 'log:read',
  about: 'Reads one recorded request to an API of the caller’s organisation.',
  params: z.object({ logId: z.string().max(1000) }),
  returns: listedCall,
  problems: [problem.log_not_found],
  async handle({ actor, params: { logId } }, { logs, ownership, vault }: LogServices) {
    const ids = createLogIds(vault, actor.orgId);
    const at = ids.parseTime(logId);
    if (at === undefined) throw problem.log_not_found();
    const hiddenApis = (await ownership.findHidden(actor)).apiIds;
    const found = await logs.findAt(
      { orgId: actor.orgId, hiddenApis, from: at, to: at, failed: false },
      place => ids.format(place) === logId,
    );
    if (!found) throw problem.log_not_found();
    return { id: logId, ...found.call };
  },
});

export const logOperations = [listLogs, getLog];
