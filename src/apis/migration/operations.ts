import { z } from 'zod';
import { Problem } from '#base/problems.ts';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { ApiServices } from '../api/changes.ts';
import { problem } from '../problems.ts';
import {
  type Migrated,
  type MigrationMode,
  type MigrationOptions,
  migrateApi,
  migrationModes,
  type SkipReason,
} from './migrate.ts';

/** APIs that one request migrates: they are converted one after the other, and a dry run returns them all. */
const maxMigratedApis = 1000;
const maxIdLength = 64;
const maxAuditCharacters = 1000;

const skipMessages: Readonly<Record<SkipReason, string>> = {
  already_migrated: 'The API is in the OpenAPI format already',
  already_staged: 'The API has a staged copy already: overrideStaged replaces it',
  is_tcp: 'TCP and TLS services have no OpenAPI format',
  is_streams: 'Streams APIs are in the OpenAPI format already',
  is_graphql: 'GraphQL APIs have no OpenAPI format',
  is_websocket: 'APIs with a WebSocket upstream have no OpenAPI format',
  not_staged: 'The API has no staged copy: stage it first',
};

const document = z.looseObject({});
const migrationResult = z.object({
  success: z.object({
    count: z.int(),
    apiIDs: z.array(z.string()),
    stagedAPIs: z.array(z.object({ classicAPIID: z.string(), oasAPIID: z.string() })).optional(),
    definitions: z.array(z.object({ apiID: z.string(), baseAPI: document, versions: z.array(document) })).optional(),
    unconverted: z
      .array(z.object({ apiID: z.string(), members: z.array(z.string()) }))
      .optional()
      .describe('Members without an equivalent in the OpenAPI format: stored in x-gw-classic, without effect'),
  }),
  failure: z.object({
    count: z.int(),
    errors: z.array(z.object({ apiID: z.string(), message: z.array(z.string()) })),
  }),
  skipped: z.object({
    count: z.int(),
    apis: z.array(z.object({ apiID: z.string(), message: z.string(), key: z.string().nullable() })),
  }),
  abortedOnFailure: z.boolean(),
});

const body = z.object({
  mode: z
    .enum(migrationModes)
    .describe('dryRun stores nothing; stage stores a copy; promote replaces the API with it; direct does both'),
  apiIDs: z.array(z.string().min(1).max(maxIdLength)).min(1).max(maxMigratedApis).optional(),
  all: z.boolean().optional().describe('Migrates all classic APIs of the organisation, in place of apiIDs'),
  abortOnFailure: z.boolean().default(false),
  overrideStaged: z.boolean().optional().describe('Replaces staged copies; with mode stage only'),
});

export const migrateApis = operation({
  surface: 'dashboard',
  noun: 'apis',
  name: 'migrateApis',
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/migrate',
  about:
    'Migrates classic APIs to the OpenAPI format; the versions inside a definition become APIs of their own. Each API is migrated completely or not at all.',
  permission: 'apis:write',
  body,
  returns: migrationResult,
  problems: [problem.too_many_to_migrate],
  async handle({ actor, body: { mode, apiIDs, all, abortOnFailure, overrideStaged }, audit }, services: ApiServices) {
    if (Boolean(all) === Boolean(apiIDs))
      throw createInvalidProblem([{ path: 'apiIDs', message: 'is required, unless all is true; not both' }]);
    if (overrideStaged && mode !== 'stage')
      throw createInvalidProblem([{ path: 'overrideStaged', message: 'can be used with mode stage only' }]);
    const ids = apiIDs ? [...new Set(apiIDs)] : await listClassicApis(services, actor);
    audit(ids.join(',').slice(0, maxAuditCharacters));
    const tally = createTally(mode);
    for (const id of ids) {
      const isFailed = await attemptMigration(
        services,
        id,
        { actor, mode, overrideStaged: overrideStaged ?? false },
        tally,
      );
      if (isFailed && abortOnFailure) return tally.toResult(true);
    }
    return tally.toResult(false);
  },
});

async function listClassicApis({ apis, ownership }: ApiServices, actor: MigrationOptions['actor']): Promise<string[]> {
  const { apiIds: hidden } = await ownership.findHidden(actor);
  const page = { page: 1, size: maxMigratedApis };
  const { items, total } = await apis.page(actor.orgId, { kind: 'classic', hidden }, 'created_at', page);
  if (total > maxMigratedApis) throw problem.too_many_to_migrate({ detail: { maxApis: maxMigratedApis } });
  return items.map(({ api_id }) => api_id);
}

type Tally = ReturnType<typeof createTally>;

/** A problem of one API does not stop the others; an internal error does. Returns whether it failed. */
async function attemptMigration(
  services: ApiServices,
  apiID: string,
  options: MigrationOptions,
  tally: Tally,
): Promise<boolean> {
  try {
    tally.add(apiID, await migrateApi(services, apiID, options));
    return false;
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error;
    tally.fail(apiID, (error.detail.lines as string[] | undefined) ?? [error.message]);
    return true;
  }
}

function createTally(mode: MigrationMode) {
  const migrated: { apiID: string; result: Extract<Migrated, { state: 'converted' }> }[] = [];
  const errors: { apiID: string; message: string[] }[] = [];
  const skipped: { apiID: string; message: string; key: string }[] = [];
  return {
    add(apiID: string, result: Migrated): void {
      if (result.state === 'converted') migrated.push({ apiID, result });
      else skipped.push({ apiID, message: skipMessages[result.reason], key: result.reason });
    },
    fail: (apiID: string, message: string[]) => void errors.push({ apiID, message }),
    toResult(abortedOnFailure: boolean): z.input<typeof migrationResult> {
      const unconverted = migrated.flatMap(({ apiID, result }) =>
        result.unconverted.length > 0 ? [{ apiID, members: [...result.unconverted] }] : [],
      );
      const staged = migrated.map(({ apiID, result }) => ({ classicAPIID: apiID, oasAPIID: result.stagedId ?? '' }));
      const definitions = migrated.map(({ apiID, result }) => ({
        apiID,
        baseAPI: result.base as Record<string, unknown>,
        versions: [...result.versions] as Record<string, unknown>[],
      }));
      return {
        success: {
          count: migrated.length,
          apiIDs: migrated.map(({ apiID }) => apiID),
          ...(mode === 'stage' && { stagedAPIs: staged }),
          ...(mode === 'dryRun' && { definitions }),
          ...(unconverted.length > 0 && { unconverted }),
        },
        failure: { count: errors.length, errors },
        skipped: { count: skipped.length, apis: skipped },
        abortedOnFailure,
      };
    },
  };
}

export const apiMigrationOperations = [migrateApis];
