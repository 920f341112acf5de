import { createPublicId } from '#base/ids.ts';
import { parseCategories } from '#definition/categories.ts';
import { listUnconverted, splitVersions } from '#definition/split-versions.ts';
import type { OasDefinition } from '#definition/wire-types.ts';
import type { Actor } from '#operations/actor.ts';
import {
  type ApiServices,
  addApi,
  type CheckedDefinition,
  changeApi,
  checkDefinition,
  removeApi,
} from '../api/changes.ts';
import { toModel } from '../api/rules.ts';
import { emptyWrapper, type StoredApi, type Wrapper } from '../api/schema.ts';
import type { ApiStore } from '../api/store.ts';
import { problem } from '../problems.ts';
import { fromStagedDocument, stagingIdPrefix, toStagedDocument } from './staging.ts';

export const migrationModes = ['dryRun', 'stage', 'promote', 'direct'] as const;
export type MigrationMode = (typeof migrationModes)[number];

export type SkipReason =
  | 'already_migrated'
  | 'already_staged'
  | 'is_tcp'
  | 'is_streams'
  | 'is_graphql'
  | 'is_websocket'
  | 'not_staged';

export type Migrated =
  | { readonly state: 'skipped'; readonly reason: SkipReason }
  | {
      readonly state: 'converted';
      readonly base: OasDefinition;
      readonly versions: readonly OasDefinition[];
      readonly stagedId?: string;
      /** Members that the OpenAPI format has no place for. */
      readonly unconverted: readonly string[];
    };

export interface MigrationOptions {
  readonly actor: Actor;
  readonly mode: MigrationMode;
  readonly overrideStaged: boolean;
}

const graphTypes: readonly string[] = ['graphql', 'udg', 'subgraph', 'supergraph'];

/** Reason for which an API cannot be converted to the OpenAPI format, or is in it already. */
function findSkipReason(api: StoredApi): SkipReason | undefined {
  if (api.kind === 'streams') return 'is_streams';
  if (api.kind === 'oas' || api.kind === 'mcp') return 'already_migrated';
  const { api_types: types } = api.summary;
  if (types.includes('tcp')) return 'is_tcp';
  if (types.some(type => graphTypes.includes(type))) return 'is_graphql';
  return /^wss?:/i.test(toModel(api).upstream.url) ? 'is_websocket' : undefined;
}

/** Migrates one API from the classic to the OpenAPI format, in one transaction. */
export function migrateApi(services: ApiServices, ref: string, options: MigrationOptions): Promise<Migrated> {
  return services.records.write(async () => {
    await services.apis.lockForWrite();
    const { actor } = options;
    const api = await services.apis.get(actor.orgId, ref);
    if (!api) throw problem.api_not_found();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(({ id }) => id === api.id)) throw problem.api_not_owned();
    const reason = findSkipReason(api);
    if (reason || api.kind !== 'classic') return { state: 'skipped', reason: reason ?? 'already_migrated' };
    return options.mode === 'promote' ? promote(services, actor, api) : convert(services, api, options);
  });
}

type ClassicApi = Extract<StoredApi, { kind: 'classic' }>;

async function convert(services: ApiServices, api: ClassicApi, options: MigrationOptions): Promise<Migrated> {
  const { actor, mode, overrideStaged } = options;
  const { base, versions, unconverted } = splitVersions(api.definition, createPublicId);
  const documents = { base, versions: versions.map(({ document }) => document) };
  const converted = { state: 'converted', ...documents, unconverted } as const;
  if (mode === 'dryRun') {
    for (const document of [base, ...documents.versions]) checkDefinition('oas', document, services);
    return converted;
  }
  const categories = parseCategories(api.definition.name ?? '');
  if (mode === 'direct') {
    await replaceWith(services, actor, api, { ...documents, wrapper: { ...api.wrapper, categories } });
    return converted;
  }
  const staged = await findStaged(services.apis, api);
  if (staged && !overrideStaged) return { state: 'skipped', reason: 'already_staged' };
  if (staged) await removeStaged(services, actor, staged);
  const more = { ...api.wrapper.more, classic_api_id: api.api_id };
  const wrapper = { ...api.wrapper, categories, more };
  const copy = await addDocument(services, actor, toStagedDocument(base), wrapper);
  for (const document of documents.versions)
    await addDocument(services, actor, toStagedDocument(document), { ...createVersionWrapper(api.wrapper), more });
  return { ...converted, stagedId: copy.api_id };
}

/** Wrapper of a version that becomes an API of its own: with the owners of the API it comes from. */
const createVersionWrapper = ({ user_owners, user_group_owners }: Wrapper): Wrapper => ({
  ...emptyWrapper,
  user_owners,
  user_group_owners,
});

const findStaged = async (apis: ApiStore, { org_id, api_id }: StoredApi) => {
  const staged = await apis.get(org_id, stagingIdPrefix + api_id);
  return staged?.kind === 'oas' && staged.wrapper.more.classic_api_id === api_id ? staged : undefined;
};

const findStagedVersions = async (apis: ApiStore, { org_id, summary }: StoredApi) =>
  (await apis.findByIds(org_id, Object.values(summary.versions))).flatMap(api =>
    api.kind === 'oas' && api.api_id.startsWith(stagingIdPrefix) ? [api] : [],
  );

/** Deletes a staged copy and its versions; refused where the actor does not own one of them. */
async function removeStaged(services: ApiServices, actor: Actor, staged: StoredApi): Promise<void> {
  const copies = [staged, ...(await findStagedVersions(services.apis, staged))];
  await services.ownership.rejectHidden(
    actor,
    copies.map(({ id }) => id),
  );
  for (const { org_id, api_id } of copies) await removeApi(services, org_id, api_id);
}

/**
 * Replaces the classic API by its staged copy, with the changes that were made to the copy. The owners are those of the
 * classic API: they may have changed since it was staged.
 */
async function promote(services: ApiServices, actor: Actor, api: ClassicApi): Promise<Migrated> {
  const staged = await findStaged(services.apis, api);
  if (!staged) return { state: 'skipped', reason: 'not_staged' };
  const versions = (await findStagedVersions(services.apis, staged)).map(it => fromStagedDocument(it.definition));
  const base = fromStagedDocument(staged.definition);
  await removeStaged(services, actor, staged);
  const { classic_api_id: _link, ...more } = staged.wrapper.more;
  const { user_owners, user_group_owners } = api.wrapper;
  const wrapper = { ...staged.wrapper, user_owners, user_group_owners, more };
  await replaceWith(services, actor, api, { base, versions, wrapper });
  return { state: 'converted', base, versions, unconverted: listUnconverted(base) };
}

interface Replacement {
  readonly base: OasDefinition;
  readonly versions: readonly OasDefinition[];
  readonly wrapper: Wrapper;
}

async function replaceWith(services: ApiServices, actor: Actor, api: ClassicApi, next: Replacement): Promise<void> {
  const written: CheckedDefinition = checkDefinition('oas', next.base, services);
  const change = { actor, orgId: api.org_id, ref: api.api_id };
  await changeApi(services, change, () => ({ ...written, wrapper: next.wrapper }));
  for (const document of next.versions) await addDocument(services, actor, document, createVersionWrapper(api.wrapper));
}

const addDocument = (services: ApiServices, actor: Actor, document: OasDefinition, wrapper: Wrapper) =>
  addApi(services, { actor, orgId: actor.orgId, written: checkDefinition('oas', document, services), wrapper });
