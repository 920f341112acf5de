import type { AddressPolicies } from '#base/address-policies.ts';
import { type Clock, formatIsoTime } from '#base/clock.ts';
import { createDatabaseId, createPublicId } from '#base/ids.ts';
import type { ProblemFactory } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { CheckResult } from '#definition/check-result.ts';
import { checkClassic } from '#definition/classic.ts';
import { checkMcp } from '#definition/mcp.ts';
import type { UnknownMembers } from '#definition/members.ts';
import { checkOas } from '#definition/oas.ts';
import { findOutboundAddresses } from '#definition/outbound-addresses.ts';
import { findMissingParts } from '#definition/required-parts.ts';
import { checkStreams } from '#definition/streams.ts';
import { type Actor, hasPermission } from '#operations/actor.ts';
import type { RefuseDependents } from '#operations/dependents.ts';
import type { WithWarnings } from '#operations/shapes.ts';
import { findUnknownMembersRule } from '#operations/unknown-members.ts';
import { createInvalidProblem, formatValidationError, type ValidationError } from '#operations/validation-error.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { Records } from '#storage/records.ts';
import type { Ownership } from '../owners/store.ts';
import { problem } from '../problems.ts';
import { checkLengths, findReferences, readApiId, summarize, toModel, withIds } from './rules.ts';
import { type ApiKind, type DefinitionOfKind, emptyWrapper, type StoredApi, type Wrapper } from './schema.ts';
import { restoreSecrets } from './secrets.ts';
import type { ApiStore } from './store.ts';
import { swapBase, type VersionOptions, withoutVersion } from './versions.ts';
import { type Findings, listChangeChecks, listNewApiChecks, prepareBase, runChecks } from './write-checks.ts';

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

/** Services of operations that delete an API. */
export interface DeleteApiServices extends ApiServices {
  refuseDependents: RefuseDependents;
}

const checks: Record<ApiKind, (value: unknown, unknownMembers: UnknownMembers) => CheckResult<unknown>> = {
  classic: checkClassic,
  oas: checkOas,
  streams: checkStreams,
  mcp: checkMcp,
};

/** Checked definition, with warnings about members that have no effect. */
export type CheckedDefinition<K extends ApiKind = ApiKind> = Extract<DefinitionOfKind, { kind: K }> &
  WithWarnings &
  Findings;

/** Validates a definition by itself, with the length limits of the index columns. */
export function validateDefinition(
  kind: ApiKind,
  value: unknown,
  { settings }: Pick<ApiServices, 'settings'>,
): CheckResult<DefinitionOfKind> {
  const checked = checks[kind](value, findUnknownMembersRule(settings));
  if (!checked.ok) return checked;
  const definition = { kind, definition: checked.definition } as DefinitionOfKind;
  const errors = checkLengths(definition);
  return errors.length > 0 ? { ok: false, errors } : { ...checked, definition };
}

/** Checks a definition. Throws every error, each with its path below `prefix`. */
export function checkDefinition<K extends ApiKind>(
  kind: K,
  value: unknown,
  services: Pick<ApiServices, 'settings'>,
  prefix = '',
): CheckedDefinition<K> {
  const checked = validateDefinition(kind, value, services);
  if (!checked.ok) throw createInvalidProblem(checked.errors.map(error => withPrefix(prefix, error)));
  const { definition: written, warnings = [] } = checked;
  return {
    ...written,
    warnings: warnings.map(error => formatValidationError(withPrefix(prefix, error))),
    ...findFindings(written, prefix),
  } as unknown as CheckedDefinition<K>;
}

/** Findings of a valid definition, each with its path below `prefix`. */
export function findFindings(written: DefinitionOfKind, prefix = ''): Findings {
  const below = <T extends { readonly path: string }>(finding: T): T => ({
    ...finding,
    path: joinPaths(prefix, finding.path),
  });
  const model = toModel(written);
  const format = written.kind === 'classic' ? 'classic' : 'oas';
  return {
    missing: findMissingParts(model).map(below),
    references: findReferences(written, model).map(below),
    addresses: findOutboundAddresses(format, written.definition).map(below),
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

/** A new API as it would be stored, with the ids that it lacks. */
export function buildNewApi({ clock }: Pick<ApiServices, 'clock'>, { orgId, written, wrapper, id }: NewApi): StoredApi {
  const now = formatIsoTime(clock.now());
  const names = { id: id || createDatabaseId(), api_id: readApiId(written) || createPublicId(), org_id: orgId };
  const times = { created_at: now, updated_at: now };
  return withSummary({ ...withIds(written, names), ...names, wrapper: wrapper ?? emptyWrapper, ...times });
}

/** Stores a new API, optionally as a version of another one. */
export function addApi(services: ApiServices, given: NewApi): Promise<StoredApi> {
  const { actor, orgId, written: findings, version } = given;
  const { records, apis } = services;
  const api = buildNewApi(services, given);
  return records.write(async () => {
    await apis.lockForWrite();
    if (!canChange(actor, api)) throw problem.api_not_owned();
    const hidden = await services.ownership.hiddenApis(actor);
    await runChecks(listNewApiChecks(services, { api, findings, hidden, version }));
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
      if ((kind === 'classic') !== (written.kind === 'classic') || (kind === 'mcp') !== (written.kind === 'mcp'))
        throw problem.other_form();
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
  const { records, apis } = services;
  return records.write(async () => {
    await apis.lockForWrite();
    const before = await apis.get(orgId, ref);
    if (!before) throw missing();
    const hidden = await services.ownership.hiddenApis(actor);
    if (hidden.some(it => it.id === before.id) || !canChange(actor, before)) throw problem.api_not_owned();
    const findings = change(before);
    const next = buildChangedApi(services, before, findings);
    await runChecks(listChangeChecks(services, { before, next, findings, hidden }));
    await apis.replace(next);
    if (String(next.summary.auth_types) !== String(before.summary.auth_types))
      await services.onApiChanged(orgId, next.api_id);
    records.markChanged('apis', next.id);
    return next;
  });
}

/** Operations of every kind of API require the permission of APIs; MCP proxies have one of their own. */
const canChange = (actor: Actor, { kind }: StoredApi): boolean =>
  kind !== 'mcp' || actor.surface !== 'dashboard' || hasPermission(actor, 'mcp:write');

/** A changed API as it would be stored: its ids stay, and masked secrets are those stored. */
export function buildChangedApi(
  { clock }: Pick<ApiServices, 'clock'>,
  before: StoredApi,
  change: DefinitionOfKind & { readonly wrapper: Wrapper },
): StoredApi {
  const { wrapper, ...written } = restoreSecrets(change, before);
  const { id, api_id, org_id, created_at } = before;
  const names = { id, api_id, org_id };
  const updated_at = formatIsoTime(clock.now());
  return withSummary({ ...withIds(written, names), ...names, wrapper, created_at, updated_at });
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
    if (!base || !next || base.kind === 'mcp') throw problem.api_not_found();
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

async function addVersion(
  { records, apis, clock }: ApiServices,
  api: StoredApi,
  version: VersionOptions,
): Promise<void> {
  const base = await prepareBase({ apis }, api, version);
  await apis.replace(withSummary({ ...base, updated_at: formatIsoTime(clock.now()) }));
  records.markChanged('apis', base.id);
}
