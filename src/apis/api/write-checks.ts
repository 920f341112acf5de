import type { AddressPolicies } from '#base/address-policies.ts';
import type { MaybePromise } from '#base/maybe-promise.ts';
import { Problem } from '#base/problems.ts';
import type { Settings } from '#base/settings.ts';
import type { ApiReference } from '#definition/api-references.ts';
import { loopName } from '#definition/loop-name.ts';
import type { OutboundAddress } from '#definition/outbound-addresses.ts';
import type { MissingPart } from '#definition/required-parts.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import type { GrantStore } from '#people/organisations/grant-store.ts';
import type { HiddenApi } from '../owners/store.ts';
import { problem } from '../problems.ts';
import { ensureAddressesAllowed, findHookAddresses } from './address-check.ts';
import { ensureNameFree, ensureReferencesAllowed } from './ownership-check.ts';
import { ensureRouteAllowed } from './route-check.ts';
import { toModel } from './rules.ts';
import type { DefinitionOfKind, StoredApi } from './schema.ts';
import { restoreSecrets } from './secrets.ts';
import type { ApiStore } from './store.ts';
import { ensureToolSources, ensureToolsFit } from './tool-source-check.ts';
import { type VersionOptions, withVersion } from './versions.ts';

/** Findings of a check. Whether they reject the write depends on what else is stored, and on the actor. */
export interface Findings {
  readonly missing?: readonly MissingPart[];
  readonly references?: readonly ApiReference[];
  readonly addresses?: readonly OutboundAddress[];
}

export interface WriteCheckServices {
  apis: ApiStore;
  settings: Settings;
  grants: GrantStore;
  addressPolicies: AddressPolicies;
}

/** A rule of a write: throws the problem of an API that breaks it, and changes nothing. */
export type WriteCheck = () => MaybePromise<void>;

export interface NewApiWrite {
  /** The API as it would be stored. */
  readonly api: StoredApi;
  readonly findings: Findings;
  readonly hidden: readonly HiddenApi[];
  readonly version?: VersionOptions | undefined;
}

/** Rules for a new API, in the order of a write. */
export function listNewApiChecks(
  services: WriteCheckServices,
  { api, findings, hidden, version }: NewApiWrite,
): readonly WriteCheck[] {
  const { apis, grants } = services;
  return [
    () => void restoreSecrets(api),
    () => ensureAddressesAllowed(services, [...(findings.addresses ?? []), ...findHookAddresses(api.wrapper)]),
    () => ensureIdFree(apis, api),
    // Without a lock of its own: a write of APIs holds `lockForWrite`.
    () => grants.ensureBelowLimit(api.org_id, 'max_apis', apis.count),
    () => ensureComplete(services, api, findings.missing, Boolean(version?.base_api_id)),
    () => ensureReferencesAllowed(findings.references, hidden),
    () => ensureToolSources(apis, api),
    () => ensureNameFree(api, hidden),
    () => ensurePathFree(services, api, hidden),
  ];
}

export interface ChangedApiWrite {
  readonly before: StoredApi;
  /** The API as it would be stored. */
  readonly next: StoredApi;
  readonly findings: Findings;
  readonly hidden: readonly HiddenApi[];
}

/** Rules for a change of an API, in the order of a write. */
export function listChangeChecks(
  services: WriteCheckServices,
  { before, next, findings, hidden }: ChangedApiWrite,
): readonly WriteCheck[] {
  const isHookChange = next.wrapper.hook_references !== before.wrapper.hook_references;
  const hookAddresses = isHookChange ? findHookAddresses(next.wrapper) : [];
  return [
    () => ensureAddressesAllowed(services, [...(findings.addresses ?? []), ...hookAddresses]),
    () => ensureReferencesAllowed(findings.references, hidden, before),
    () => ensureToolSources(services.apis, next),
    () => ensureToolsFit(services.apis, next),
    () => ensureComplete(services, before, findings.missing),
    () => {
      if (loopName(next.summary.name) !== loopName(before.summary.name)) ensureNameFree(next, hidden);
    },
    async () => {
      if (isMoved(before, next)) await ensurePathFree(services, next, hidden);
      else if (becomesActive(before, next)) await ensureRouteAllowed(services, next, hidden);
    },
  ];
}

/** Runs checks until the first problem, which it throws. */
export async function runChecks(checks: readonly WriteCheck[]): Promise<void> {
  for (const check of checks) await check();
}

/** Runs all checks and returns their problems. */
export async function collectProblems(checks: readonly WriteCheck[]): Promise<Problem[]> {
  const found: Problem[] = [];
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      found.push(error);
    }
  }
  return found;
}

async function ensureIdFree(apis: ApiStore, api: StoredApi): Promise<void> {
  if (await apis.isTaken(api)) throw problem.id_exists();
}

/** Rejects a definition without its required parts. A version is reached through its base and needs no listen path. */
async function ensureComplete(
  { apis }: Pick<WriteCheckServices, 'apis'>,
  { org_id, api_id }: Pick<StoredApi, 'org_id' | 'api_id'>,
  missing: readonly MissingPart[] = [],
  becomesVersion = false,
): Promise<void> {
  if (missing.length === 0) return;
  const isVersion = becomesVersion || (await apis.findBases(org_id, api_id)).length > 0;
  const errors = missing.filter(({ part }) => part !== 'listen path' || !isVersion);
  if (errors.length > 0) throw createInvalidProblem(errors);
}

async function ensurePathFree(
  services: WriteCheckServices,
  api: StoredApi,
  hidden: readonly HiddenApi[],
): Promise<void> {
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

/** The base of a new version with that version; rejects options that the base does not allow. */
export async function prepareBase(
  { apis }: Pick<WriteCheckServices, 'apis'>,
  api: StoredApi,
  version: VersionOptions,
): Promise<StoredApi> {
  const base = await apis.get(api.org_id, version.base_api_id ?? '');
  if (!base) throw problem.base_not_found({ detail: { id: version.base_api_id } });
  if (base.id === api.id) throw problem.base_is_self();
  if (base.kind !== api.kind) throw problem.base_of_other_form();
  return withVersion(base, api.api_id, version);
}
