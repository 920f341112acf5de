import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import { checkClassic } from '#definition/classic.ts';
import type { UnknownMembers } from '#definition/members.ts';
import { checkOas } from '#definition/oas.ts';
import { type MissingPart, missingParts } from '#definition/required-parts.ts';
import { checkStreams } from '#definition/streams.ts';
import type { Checked } from '#definition/validation-error.ts';
import type { Warned } from '#operations/shapes.ts';
import { type Fault, faultText, invalid } from '#operations/validation-error.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import { problem } from '../problems.ts';
import { refuseForeignRoute } from './route-check.ts';
import { boundFaults, givenId, identified, modelOf, summaryOf } from './rules.ts';
import { type ApiKind, emptyWrapper, type StoredApi, type Wrapper, type Written } from './schema.ts';
import { restoreSecrets } from './secrets.ts';
import type { ApiStore } from './store.ts';
import { rebased, type VersionAsked, withoutVersion, withVersion } from './versions.ts';

/** What changing APIs needs. */
export interface ApiTools {
  records: Records;
  apis: ApiStore;
  clock: Clock;
  settings: Settings;
  grants: GrantStore;
  /** Takes an API that no longer exists out of whatever grants access to it. */
  forgetApi: (orgId: string, apiId: string) => Promise<void>;
  /** Tells those who grant access that an API is new, or knows its callers by other means than before. */
  apiChanged: (orgId: string, apiId: string) => Promise<void>;
}

const checks: Record<ApiKind, (value: unknown, unknownMembers: UnknownMembers) => Checked<unknown>> = {
  classic: checkClassic,
  oas: checkOas,
  streams: checkStreams,
};

/** A definition that passed its check, with the members that passed without effect. */
export type CheckedWritten<K extends ApiKind = ApiKind> = Extract<Written, { kind: K }> & Warned & Completeness;

/** What a definition lacks, found at its check; whether it may depends on what else is stored. */
export interface Completeness {
  readonly missing?: readonly MissingPart[];
}

/** The definition as it was given, or every fault with its place below `prefix`. */
export function checkedDefinition<K extends ApiKind>(
  kind: K,
  value: unknown,
  { settings }: Pick<ApiTools, 'settings'>,
  prefix = '',
): CheckedWritten<K> {
  const checked = checks[kind](value, settings['management.unknown_members']);
  if (!checked.ok) throw invalid(checked.faults.map(fault => below(prefix, fault)));
  const { definition, warnings = [] } = checked;
  const lines = warnings.map(fault => faultText(below(prefix, fault)));
  const written = { kind, definition, warnings: lines } as unknown as CheckedWritten<K>;
  const faults = boundFaults(written);
  if (faults.length > 0) throw invalid(faults.map(fault => below(prefix, fault)));
  const missing = missingParts(modelOf(written)).map(part => ({ ...part, ...below(prefix, part) }));
  return { ...written, missing };
}

/** What a write of a stored definition would be refused for or warned of today: older installations stored more. */
export function storedWarnings({ kind, definition }: StoredApi): string[] {
  const checked = checks[kind](definition, 'warn');
  return (checked.ok ? (checked.warnings ?? []) : checked.faults).map(faultText);
}

const below = (prefix: string, { path, message }: Fault): Fault => ({
  path: [prefix, path].filter(Boolean).join(path.startsWith('[') ? '' : '.'),
  message,
});

export interface NewApi {
  readonly orgId: string;
  readonly written: Written & Completeness;
  readonly wrapper?: Wrapper;
  /** Kept by an import; made otherwise. */
  readonly id?: string;
  readonly version?: VersionAsked;
}

/** Stores a new API, as a version of another one if so asked. */
export function addApi(tools: ApiTools, { orgId, written, wrapper = emptyWrapper, id, version }: NewApi) {
  restoreSecrets({ ...written, wrapper });
  const { records, apis, clock } = tools;
  const now = formatIsoTime(clock.now());
  const names = { id: id || createDatabaseId(), api_id: givenId(written) || createPublicId(), org_id: orgId };
  const api = settled({ ...identified(written, names), ...names, wrapper, created_at: now, updated_at: now });
  return records.write(async () => {
    await apis.takeTurn();
    if (await apis.isTaken(api)) throw problem.same_id();
    await tools.grants.checkObjectLimit(orgId, 'max_apis', apis.count);
    await refuseIncomplete(tools, api, written.missing, Boolean(version?.base_api_id));
    await refuseClash(tools, api);
    if (version?.base_api_id) await addVersion(tools, api, version);
    await apis.insert(api);
    await tools.apiChanged(orgId, api.api_id);
    records.markChanged('apis', api.id);
    return api;
  });
}

export interface PutApi {
  readonly api: StoredApi;
  readonly action: 'added' | 'modified';
}

/**
 * Stores an API under the id it brings, in place of the one that has that id. One of another organisation, or written in
 * the other form, is never replaced.
 */
export function putApi(tools: ApiTools, given: NewApi): Promise<PutApi> {
  const { records, apis } = tools;
  const { orgId, written, version } = given;
  return records.write(async () => {
    await apis.takeTurn();
    const before = await apis.withId(givenId(written));
    if (!before) return { api: await addApi(tools, given), action: 'added' as const };
    if (before.org_id !== orgId) throw problem.same_id();
    const api = await changeApi(tools, orgId, before.api_id, ({ kind, wrapper }) => {
      if ((kind === 'classic') !== (written.kind === 'classic')) throw problem.other_form();
      return { ...written, wrapper };
    });
    if (version?.base_api_id) await addVersion(tools, api, version);
    return { api, action: 'modified' as const };
  });
}

/** Reads, changes and stores an API as one. */
export function changeApi(
  tools: ApiTools,
  orgId: string,
  ref: string,
  change: (api: StoredApi) => Written & Completeness & { readonly wrapper: Wrapper },
  missing: ProblemFactory = problem.definition_not_found,
): Promise<StoredApi> {
  const { records, apis, clock } = tools;
  return records.write(async () => {
    await apis.takeTurn();
    const before = await apis.get(orgId, ref);
    if (!before) throw missing();
    const { wrapper, missing: lacking, ...written } = restoreSecrets(change(before), before);
    await refuseIncomplete(tools, before, lacking);
    const { id, api_id, org_id, created_at } = before;
    const names = { id, api_id, org_id };
    const updated_at = formatIsoTime(clock.now());
    const next = settled({ ...identified(written, names), ...names, wrapper, created_at, updated_at });
    const moved =
      next.summary.domain !== before.summary.domain || next.summary.listen_path !== before.summary.listen_path;
    if (moved) await refuseClash(tools, next);
    else if (isActivated(before, next)) await refuseForeignRoute(tools, next);
    await apis.replace(next);
    if (String(next.summary.auth_types) !== String(before.summary.auth_types)) await tools.apiChanged(orgId, api_id);
    records.markChanged('apis', next.id);
    return next;
  });
}

/** Removes an API, from the versions of others and from what grants access to it too. */
export function removeApi(tools: ApiTools, orgId: string, ref: string, kinds?: readonly ApiKind[]): Promise<StoredApi> {
  const { records, apis, forgetApi } = tools;
  return records.write(async () => {
    await apis.takeTurn();
    const api = await apis.get(orgId, ref);
    if (!api || (kinds && !kinds.includes(api.kind))) throw problem.api_not_found();
    await apis.remove(api.id);
    for (const base of await apis.basesOf(orgId, api.api_id)) {
      await apis.replace(settled(withoutVersion(base, api.api_id)));
      records.markChanged('apis', base.id);
    }
    await forgetApi(orgId, api.api_id);
    records.markChanged('apis', api.id);
    return api;
  });
}

/** Lets a version lead the versions of its base, both at once. */
export function rebaseApi(tools: ApiTools, orgId: string, baseRef: string, nextRef: string): Promise<StoredApi> {
  const { records, apis, clock } = tools;
  return records.write(async () => {
    await apis.takeTurn();
    const [base, next] = [await apis.get(orgId, baseRef), await apis.get(orgId, nextRef)];
    if (!base || !next) throw problem.api_not_found();
    const made = rebased(base, next);
    const updated_at = formatIsoTime(clock.now());
    for (const api of [made.base, made.version]) {
      await apis.replace(settled({ ...api, updated_at }));
      records.markChanged('apis', api.id);
    }
    return made.base;
  });
}

const settled = (api: Omit<StoredApi, 'summary'> & Written): StoredApi => ({
  ...api,
  summary: summaryOf(api, api.wrapper),
});

/** A version of another API is reached through its base, and needs no listen path of its own. */
async function refuseIncomplete(
  { apis }: Pick<ApiTools, 'apis'>,
  { org_id, api_id }: Pick<StoredApi, 'org_id' | 'api_id'>,
  missing: readonly MissingPart[] = [],
  becomesVersion = false,
): Promise<void> {
  if (missing.length === 0) return;
  const isVersion = becomesVersion || (await apis.basesOf(org_id, api_id)).length > 0;
  const faults = missing.filter(({ part }) => part !== 'listen path' || !isVersion);
  if (faults.length > 0) throw invalid(faults);
}

async function refuseClash(tools: ApiTools, api: StoredApi): Promise<void> {
  await refuseForeignRoute(tools, api);
  const { id, org_id, summary } = api;
  if (tools.settings['apis.allow_duplicate_paths'] || !(await tools.apis.isClaimed(org_id, summary, id))) return;
  const where = summary.domain ? ` on ${summary.domain}` : '';
  throw problem.same_path({ detail: { path: summary.listen_path, where } });
}

/** A route that overlapped others before they were compared goes on as it is, but is not switched on again. */
const isActivated = (before: Written, next: Written): boolean =>
  modelOf(next).identity.active && !modelOf(before).identity.active;

async function addVersion({ records, apis, clock }: ApiTools, api: StoredApi, version: VersionAsked): Promise<void> {
  const base = await apis.get(api.org_id, version.base_api_id ?? '');
  if (!base) throw problem.base_not_found({ detail: { id: version.base_api_id } });
  if (base.id === api.id) throw problem.base_is_self();
  if (base.kind !== api.kind) throw problem.base_of_other_form();
  const next = withVersion(base, api.api_id, version);
  await apis.replace(settled({ ...next, updated_at: formatIsoTime(clock.now()) }));
  records.markChanged('apis', base.id);
}
