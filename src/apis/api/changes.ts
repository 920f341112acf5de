import type { AddressPolicies } from '#base/address-policies.ts';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { ApiReference } from '#definition/api-references.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { checkClassic } from '#definition/classic.ts';
import { loopName } from '#definition/loop-name.ts';
import type { UnknownMembers } from '#definition/members.ts';
import { checkOas } from '#definition/oas.ts';
import { findOutboundAddresses, type OutboundAddress } from '#definition/outbound-addresses.ts';
import { findMissingParts, type MissingPart } from '#definition/required-parts.ts';
import { checkStreams } from '#definition/streams.ts';
import type { Actor } from '#operations/actor.ts';
import type { WithWarnings } from '#operations/shapes.ts';
import { findUnknownMembersRule } from '#operations/unknown-members.ts';
import { createInvalidProblem, formatValidationError, type ValidationError } from '#operations/validation-error.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import type { HiddenApi, Ownership } from '../owners/store.ts';
import { problem } from '../problems.ts';
import { ensureAddressesAllowed, findHookAddresses } from './address-check.ts';
import { ensureNameFree, ensureReferencesAllowed } from './ownership-check.ts';
import { ensureRouteAllowed } from './route-check.ts';
import { checkLengths, findReferences, readApiId, summarize, toModel, withIds } from './rules.ts';
import { type ApiKind, type DefinitionOfKind, emptyWrapper, type StoredApi, type Wrapper } from './schema.ts';
import { restoreSecrets } from './secrets.ts';
import type { ApiStore } from './store.ts';
import { swapBase, type VersionOptions, withoutVersion, withVersion } from './versions.ts';

export interface ApiServices {
  records: Records;
  apis: ApiStore;
  clock: Clock;
  settings: Settings;
  grants: GrantStore;
  ownership: Ownership;
  addressPolicies: AddressPolicies;
  /** Removes a deleted API from everything that grants access to it. */
  onApiDeleted: (orgId: string, apiId: string) => Promise<void>;
  /** Notifies the modules that grant access of a new API, or of changed auth methods. */
  onApiChanged: (orgId: string, apiId: string) => Promise<void>;
}

const checks: Record<ApiKind, (value: unknown, unknownMembers: UnknownMembers) => CheckResult<unknown>> = {
  classic: checkClassic,
  oas: checkOas,
  streams: checkStreams,
};

/** Checked definition, with warnings about members that have no effect. */
export type CheckedDefinition<K extends ApiKind = ApiKind> = Extract<DefinitionOfKind, { kind: K }> &
  WithWarnings &
  Findings;

/** Findings of a check. Whether they reject the write depends on what else is stored, and on the actor. */
export interface Findings {
  readonly missing?: readonly MissingPart[];
  readonly references?: readonly ApiReference[];
  readonly addresses?: readonly OutboundAddress[];
}

/** Checks a definition. Throws every error, each with its path below `prefix`. */
export function checkDefinition<K extends ApiKind>(
  kind: K,
  value: unknown,
  { settings }: Pick<ApiServices, 'settings'>,
  prefix = '',
): CheckedDefinition<K> {
  const checked = checks[kind](value, findUnknownMembersRule(settings));
  if (!checked.ok) throw createInvalidProblem(checked.errors.map(error => withPrefix(prefix, error)));
  const { definition, warnings = [] } = checked;
  const lines = warnings.map(error => formatValidationError(withPrefix(prefix, error)));
  const written = { kind, definition, warnings: lines } as unknown as CheckedDefinition<K>;
  const errors = checkLengths(written);
  if (errors.length > 0) throw createInvalidProblem(errors.map(error => withPrefix(prefix, error)));
  const below = <T extends { readonly path: string }>(finding: T): T => ({
    ...finding,
    path: joinPaths(prefix, finding.path),
  });
  const model = toModel(written);
  return {
    ...written,
    missing: findMissingParts(model).map(below),
    references: findReferences(written, model).map(below),
    addresses: findOutboundAddresses(kind === 'classic' ? 'classic' : 'oas', definition).map(below),
  };
}

/** Warnings for a stored definition: errors and warnings a write would give today. Older releases accepted more. */
export function listStoredWarnings({ kind, definition }: StoredApi): string[] {
  const checked = checks[kind](definition, 'warn');
  return (checked.ok ? (checked.warnings ?? []) : checked.errors).map(formatValidationError);
}

const joinPaths = (prefix: string, path: string): string =>
  [prefix, path].filter(Boolean).join(path.startsWith('[') ? '' : '.');
const withPrefix = (prefix: string, { path, message }: ValidationError): ValidationError => ({
  path: joinPaths(prefix, path),
  message,
});

export interface NewApi {
  readonly actor: Actor;
  readonly orgId: string;
  readonly written: DefinitionOfKind & Findings;
  readonly wrapper?: Wrapper;
  /** An import keeps it; generated otherwise. */
  readonly id?: string;
  readonly version?: VersionOptions;
}

/** Stores a new API, optionally as a version of another one. */
export function addApi(services: ApiServices, { actor, orgId, written, wrapper = emptyWrapper, id, version }: NewApi) {
  restoreSecrets({ ...written, wrapper });
  ensureAddressesAllowed(services, [...(written.addresses ?? []), ...findHookAddresses(wrapper)]);
  const { records, apis, clock } = services;
  const now = formatIsoTime(clock.now());
  const names = { id: id || createDatabaseId(), api_id: readApiId(written) || createPublicId(), org_id: orgId };
  const api = withSummary({ ...withIds(written, names), ...names, wrapper, created_at: now, updated_at: now });
  return records.write(async () => {
    await apis.lockForWrite();
    if (await apis.isTaken(api)) throw problem.id_exists();
    await services.grants.checkObjectLimit(orgId, 'max_apis', apis.count);
    await ensureComplete(services, api, written.missing, Boolean(version?.base_api_id));
    const hidden = await services.ownership.hiddenApis(actor);
    ensureReferencesAllowed(written.references, hidden);
    ensureNameFree(api, hidden);
    await ensurePathFree(services, api, hidden);
    if (version?.base_api_id) await addVersion(services, api, version);
    await apis.insert(api);
    await services.onApiChanged(orgId, api.api_id);
    records.markChanged('apis', api.id);
    return api;
  });
}

export interface PutApi {
  readonly api: StoredApi;
  readonly action: 'added' | 'modified';
}

/** Upsert by the id in the definition. An API of another organisation or in the other format is never replaced. */
export function putApi(services: ApiServices, given: NewApi): Promise<PutApi> {
  const { records, apis } = services;
  const { actor, orgId, written, version } = given;
  return records.write(async () => {
    await apis.lockForWrite();
    const before = await apis.findByApiId(readApiId(written));
    if (!before) return { api: await addApi(services, given), action: 'added' as const };
    if (before.org_id !== orgId) throw problem.id_exists();
    const api = await changeApi(services, { actor, orgId, ref: before.api_id }, ({ kind, wrapper }) => {
      if ((kind === 'classic') !== (written.kind === 'classic')) throw problem.other_form();
      return { ...written, wrapper };
    });
    if (version?.base_api_id) await addVersion(services, api, version);
    return { api, action: 'modified' as const };
  });
}

/** An API to change, by either of its ids, and the actor who changes it. */
export interface ChangedApi {
  readonly actor: Actor;
  readonly orgId: string;
  readonly ref: string;
}

/** Read-modify-write of an API in one transaction. */
export function changeApi(
  services: ApiServices,
  { actor, orgId, ref }: ChangedApi,
  change: (api: StoredApi) => DefinitionOfKind & Findings & { readonly wrapper: Wrapper },
  missing: ProblemFactory = problem.definition_not_found,
): Promise<StoredApi> {
  const { records, apis, clock } = services;
  return records.write(async () => {
    await apis.lockForWrite();
    const before = await apis.get(orgId, ref);
    if (!before) throw missing();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(it => it.id === before.id)) throw problem.api_not_owned();
    const {
      wrapper,
      missing: lacking,
      references,
      addresses = [],
      ...written
    } = restoreSecrets(change(before), before);
    const isHookChange = wrapper.hook_references !== before.wrapper.hook_references;
    ensureAddressesAllowed(services, [...addresses, ...(isHookChange ? findHookAddresses(wrapper) : [])]);
    ensureReferencesAllowed(references, hidden, before);
    await ensureComplete(services, before, lacking);
    const { id, api_id, org_id, created_at } = before;
    const names = { id, api_id, org_id };
    const updated_at = formatIsoTime(clock.now());
    const next = withSummary({ ...withIds(written, names), ...names, wrapper, created_at, updated_at });
    if (loopName(next.summary.name) !== loopName(before.summary.name)) ensureNameFree(next, hidden);
    if (isMoved(before, next)) await ensurePathFree(services, next, hidden);
    else if (becomesActive(before, next)) await ensureRouteAllowed(services, next, hidden);
    await apis.replace(next);
    if (String(next.summary.auth_types) !== String(before.summary.auth_types))
      await services.onApiChanged(orgId, api_id);
    records.markChanged('apis', next.id);
    return next;
  });
}

/** Deletes an API, also from the versions of other APIs and from what grants access to it. */
export function removeApi(
  services: ApiServices,
  orgId: string,
  ref: string,
  kinds?: readonly ApiKind[],
): Promise<StoredApi> {
  const { records, apis, onApiDeleted } = services;
  return records.write(async () => {
    await apis.lockForWrite();
    const api = await apis.get(orgId, ref);
    if (!api || (kinds && !kinds.includes(api.kind))) throw problem.api_not_found();
    await apis.remove(api.id);
    for (const base of await apis.findBases(orgId, api.api_id)) {
      await apis.replace(withSummary(withoutVersion(base, api.api_id)));
      records.markChanged('apis', base.id);
    }
    await onApiDeleted(orgId, api.api_id);
    records.markChanged('apis', api.id);
    return api;
  });
}

/** Makes a version the base of its siblings and the former base a version, in one transaction. */
export function rebaseApi(services: ApiServices, orgId: string, baseRef: string, nextRef: string): Promise<StoredApi> {
  const { records, apis, clock } = services;
  return records.write(async () => {
    await apis.lockForWrite();
    const [base, next] = [await apis.get(orgId, baseRef), await apis.get(orgId, nextRef)];
    if (!base || !next) throw problem.api_not_found();
    const swapped = swapBase(base, next);
    const updated_at = formatIsoTime(clock.now());
    for (const api of [swapped.base, swapped.version]) {
      await apis.replace(withSummary({ ...api, updated_at }));
      records.markChanged('apis', api.id);
    }
    return swapped.base;
  });
}

const withSummary = (api: Omit<StoredApi, 'summary'> & DefinitionOfKind): StoredApi => ({
  ...api,
  summary: summarize(api, api.wrapper),
});

/** Rejects a definition without its required parts. A version is reached through its base and needs no listen path. */
async function ensureComplete(
  { apis }: Pick<ApiServices, 'apis'>,
  { org_id, api_id }: Pick<StoredApi, 'org_id' | 'api_id'>,
  missing: readonly MissingPart[] = [],
  becomesVersion = false,
): Promise<void> {
  if (missing.length === 0) return;
  const isVersion = becomesVersion || (await apis.findBases(org_id, api_id)).length > 0;
  const errors = missing.filter(({ part }) => part !== 'listen path' || !isVersion);
  if (errors.length > 0) throw createInvalidProblem(errors);
}

async function ensurePathFree(services: ApiServices, api: StoredApi, hidden: readonly HiddenApi[]): Promise<void> {
  await ensureRouteAllowed(services, api, hidden);
  const { id, org_id, summary } = api;
  if (services.settings['apis.allow_duplicate_paths'] || !(await services.apis.isClaimed(org_id, summary, id))) return;
  const where = summary.domain ? ` on ${summary.domain}` : '';
  throw problem.path_exists({ detail: { path: summary.listen_path, where } });
}

const isMoved = ({ summary: before }: StoredApi, { summary: next }: StoredApi): boolean =>
  next.domain !== before.domain || next.listen_path !== before.listen_path;

/** A route stored before overlap checks existed keeps working, but cannot be activated again. */
const becomesActive = (before: DefinitionOfKind, next: DefinitionOfKind): boolean =>
  toModel(next).identity.active && !toModel(before).identity.active;

async function addVersion(
  { records, apis, clock }: ApiServices,
  api: StoredApi,
  version: VersionOptions,
): Promise<void> {
  const base = await apis.get(api.org_id, version.base_api_id ?? '');
  if (!base) throw problem.base_not_found({ detail: { id: version.base_api_id } });
  if (base.id === api.id) throw problem.base_is_self();
  if (base.kind !== api.kind) throw problem.base_of_other_form();
  const next = withVersion(base, api.api_id, version);
  await apis.replace(withSummary({ ...next, updated_at: formatIsoTime(clock.now()) }));
  records.markChanged('apis', base.id);
}
