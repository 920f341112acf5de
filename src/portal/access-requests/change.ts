import { Problem } from '#base/problems.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { checkClientType } from '../apps/client-choice.ts';
import {
  checkPlanQuota,
  getAccessType,
  type OwnRequest,
  resolveCatalogue,
  resolvePlanAndProducts,
} from '../apps/provision.ts';
import { mailSubmitted } from '../mails/access-mails.ts';
import { present, problem } from '../problems.ts';
import { claimClient } from '../provider-tasks/client-guard.ts';
import { applyChange, type TaskServices } from '../provider-tasks/perform.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import { isProviderFailure } from '../providers/provider-client.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { claimRequest, describeDecisionFailure, lockVisiblePlan } from './decision.ts';
import { type GrantedPlan, withRequestedPlan } from './granted-plan.ts';
import { reportFailed } from './report-submitted.ts';
import type { StoredAccessRequest } from './schema.ts';

export interface RequestChange {
  readonly PlanID?: number | undefined;
  readonly ProductIDs?: readonly number[] | undefined;
  readonly ProvisionImmediately?: boolean | undefined;
  /** Note of the developer to those who decide. */
  readonly Note?: string;
}

const isSameSet = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every(it => b.includes(it));

/**
 * Asks for another plan or other products of an approved request. It is a request of its own, which an administrator or
 * the plan approves; until then the old ones are in force. The keys stay the same. Products are removed at once.
 * Where the provider refuses, the change of a developer stays pending; that of an administrator is an error.
 */
export async function requestChange(
  before: StoredAccessRequest,
  change: RequestChange,
  services: TaskServices,
  own?: OwnRequest,
): Promise<number> {
  const wanted = await resolveChange(before, change, services);
  const { request, task } = await services.records.write(async () => {
    await own?.checkBounds();
    const created = await insertChange(before, wanted, services);
    return { request: created, task: created.ClaimedAt > 0 ? await recordChange(created, services) : undefined };
  });
  if (!task) return request.ID;
  try {
    await completeClaimedChange(request, task, services, Boolean(own));
  } catch (error) {
    if (own && isProviderFailure(error)) return before.ID;
    // The response is an error: the change is removed and does not count against the quota.
    await services.portal.accessRequests.purge(request.ID);
    throw error;
  }
  return before.ID;
}

async function resolveChange(before: StoredAccessRequest, change: RequestChange, services: TaskServices) {
  const { PlanID = before.PlanID, ProductIDs = before.ProductIDs } = change;
  const { plan, products } = await resolvePlanAndProducts({ PlanID, ProductIDs: [...ProductIDs] }, services);
  const ids = products.map(({ ID }) => ID);
  const refuse = (path: string, message: string) => createInvalidProblem([{ path, message }]);
  if (plan.ProviderID !== before.ProviderID) throw refuse('PlanID', 'the plan has another provider');
  if (products.some(it => getAccessType(it) !== before.AuthType))
    throw refuse('ProductIDs', `need another credential than one of the type ${before.AuthType}`);
  if (before.DCRTemplateID) await checkClientType(before.DCRTemplateID, products, services);
  if (plan.ID === before.PlanID && isSameSet(ids, before.ProductIDs))
    throw refuse('PlanID', 'is the plan of the request already');
  const isReduction = plan.ID === before.PlanID && ids.every(id => before.ProductIDs.includes(id));
  const isImmediate = change.ProvisionImmediately ?? (isReduction || plan.AutoApproveAccessRequests);
  const catalogue = await resolveCatalogue({ Catalogue: undefined }, plan, products, services);
  const Names = { plan: plan.Name, catalogue: catalogue?.Name ?? '', products: products.map(({ Name }) => Name) };
  return { plan, ids, isImmediate, CatalogueID: catalogue?.ID ?? 0, Names, Note: change.Note ?? '' };
}

/** Inside a transaction: one change of a request is pending at a time. The row lock serialises concurrent ones. */
async function insertChange(
  { ID }: StoredAccessRequest,
  wanted: Awaited<ReturnType<typeof resolveChange>>,
  services: TaskServices,
): Promise<StoredAccessRequest> {
  const { portal, clock } = services;
  const { plan, ids, isImmediate, CatalogueID, Names, Note } = wanted;
  const before = present(await portal.accessRequests.change(ID, it => it), 'Access request', 'unknown');
  if (before.Status !== 'approved' || before.Changes) throw problem.not_approved({ detail: { status: before.Status } });
  const others = await portal.accessRequests.listLive({ app_id: before.AppID, status: 'pending' });
  if (others.some(({ Changes }) => Changes === ID)) throw problem.change_pending();
  const visible = await lockVisiblePlan(plan.ID, services);
  if (plan.ID !== before.PlanID) await checkPlanQuota(before.UserID, visible, services);
  const now = clock.now();
  const { Reason: _reason, Failure: _failure, Requested: _requested, ID: _id, ...rest } = before;
  const created = await portal.accessRequests.insert({
    ...rest,
    Changes: ID,
    PlanID: plan.ID,
    ProductIDs: ids,
    CatalogueID,
    Names: { ...Names, app: before.Names.app },
    Note,
    ProvisionImmediately: isImmediate,
    Status: 'pending',
    ClaimedAt: isImmediate ? now : 0,
    CreatedAt: now,
    UpdatedAt: now,
  });
  await portal.notify('PlanChangeRequested', portalMessages.accessRequest(created));
  if (!isImmediate) await mailSubmitted(created, services);
  return created;
}

/** Approves a pending change: the keys get the rights of its plan and products, with their ids unchanged. */
export async function approveChange(id: number, services: TaskServices, granted?: GrantedPlan): Promise<void> {
  const { request, task } = await services.records.write(async () => {
    const claimed = await claimRequest(id, services, granted);
    return { request: claimed, task: await recordChange(claimed, services) };
  });
  await completeClaimedChange(request, task, services);
}

/** Inside the transaction of the claim. A failed change is undone first: the order of calls decides the rights. */
async function recordChange(request: StoredAccessRequest, services: TaskServices): Promise<StoredProviderTask> {
  const { portal } = services;
  const { ID: RequestID, ProviderID, Changes = 0, ClaimedAt } = request;
  const [credential] = await portal.credentials.ofRequests([Changes]);
  const CredentialID = credential?.ID ?? 0;
  const unfinished = CredentialID > 0 ? await portal.providerTasks.ofCredential(CredentialID) : [];
  if (unfinished.some(({ Kind }) => Kind === 'restore')) throw problem.change_unfinished();
  const OauthClientID = credential?.OauthClientID ?? 0;
  if (OauthClientID > 0) await claimClient(OauthClientID, services);
  const task = { Kind: 'change' as const, ProviderID, Key: '', RequestID, CredentialID, OauthClientID };
  return portal.providerTasks.add(task, ClaimedAt);
}

/** Makes the calls of a claimed change. Where they fail the change is pending, and the keys get their former rights. */
async function completeClaimedChange(
  request: StoredAccessRequest,
  task: StoredProviderTask,
  services: TaskServices,
  keepsRefused = false,
): Promise<void> {
  const { portal, records, clock } = services;
  try {
    await applyChange(task, services);
  } catch (error) {
    const Failure = describeDecisionFailure(error);
    const isOwn = (it: StoredAccessRequest) => it.Status === 'pending' && it.ClaimedAt === request.ClaimedAt;
    await records.write(async () => {
      const found = await portal.accessRequests.get(request.ID);
      const released = await portal.accessRequests.change(request.ID, it =>
        isOwn(it) ? { ...withRequestedPlan(it), ClaimedAt: 0, ProvisionImmediately: false, Failure } : it,
      );
      const isLeft = keepsRefused && isProviderFailure(error) && found && isOwn(found);
      if (isLeft && released) await reportFailed(released, services);
      if (!(await portal.providerTasks.remove(task.ID)) || (await isUnchanged(error, task, services))) return;
      const before = await portal.accessRequests.get(request.Changes ?? 0);
      const restore = {
        Kind: 'restore' as const,
        KeepsPlan: before?.PlanID === request.PlanID,
        ProviderID: task.ProviderID,
        Key: '',
        CredentialID: task.CredentialID,
        OauthClientID: task.OauthClientID ?? 0,
      };
      const added = await portal.providerTasks.add({ ...restore, RequestID: request.Changes ?? 0 }, clock.now());
      await portal.providerTasks.defer(added, Failure, clock.now());
    });
    throw error;
  }
}

/** True where no key can have other rights: the provider refused the change of the only one. */
async function isUnchanged(
  error: unknown,
  { CredentialID, OauthClientID }: StoredProviderTask,
  { portal }: TaskServices,
) {
  if (CredentialID === 0) return true;
  // An OAuth client may have its scopes while an API refused them, and a certificate may be in other allow lists.
  if (OauthClientID || (await portal.credentials.get(CredentialID))?.Certificates) return false;
  const isRefused = error instanceof Problem && error.code === problem.provider_refused.code;
  return isRefused && !(await portal.providerTasks.ofCredential(CredentialID)).some(({ Kind }) => Kind === 'end');
}
