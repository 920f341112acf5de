import { issueProviderKey, toCredentialSecrets } from '../credentials/issue.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { revokeAtProvider } from './removal.ts';
import type { StoredAccessRequest } from './schema.ts';

export type DecisionServices = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;

/** Claims expire: longer than any provider call, so an older claim is of a process that died. */
const claimTimeoutMs = 120_000;

/** True while an approval is in progress. */
export const isClaimed = ({ ClaimedAt }: StoredAccessRequest, nowMs: number) => ClaimedAt > nowMs - claimTimeoutMs;

function refuseDecided(request: StoredAccessRequest, nowMs: number): void {
  if (request.Status !== 'pending') throw problem.not_pending({ detail: { status: request.Status } });
  if (isClaimed(request, nowMs)) throw problem.approval_in_progress();
}

/**
 * Approves a pending request. It is claimed first, so that only one of two concurrent approvals issues a key; the key is
 * issued next, without a lock during the provider call; the request is approved together with its credential. A key
 * whose request was deleted or claimed again meanwhile is revoked.
 */
export async function approveRequest(id: number, services: DecisionServices): Promise<void> {
  const { portal, records, clock } = services;
  const claim = clock.now();
  const claimed = await records.write(async () => {
    const changed = await portal.accessRequests.change(id, it => {
      refuseDecided(it, claim);
      return { ...it, ClaimedAt: claim };
    });
    const request = present(changed, 'Access request', 'unknown');
    await lockVisiblePlan(request.PlanID, services);
    return request;
  });
  await completeApproval(claimed, services);
}

/** Inside a transaction: locks the plan row. A hidden plan issues no credentials. */
export async function lockVisiblePlan(id: number, { portal }: Pick<PortalServices, 'portal'>): Promise<StoredPlan> {
  const plan = await portal.plans.change(id, it => it);
  return present(plan?.Hidden ? undefined : plan, 'Plan', 'unknown');
}

/** Issues the credential of a claimed request. With `isNew`, AccessRequestCreated is sent too. */
export async function completeApproval(
  request: StoredAccessRequest,
  services: DecisionServices,
  isNew = false,
): Promise<void> {
  const { portal, records, clock } = services;
  const isOwnClaim = (it: StoredAccessRequest) => it.Status === 'pending' && it.ClaimedAt === request.ClaimedAt;
  let key: Awaited<ReturnType<typeof issueProviderKey>>;
  try {
    key = await issueProviderKey(request, services);
  } catch (error) {
    await portal.accessRequests.change(request.ID, it => (isOwnClaim(it) ? { ...it, ClaimedAt: 0 } : it));
    throw error;
  }
  try {
    await records.write(async () => {
      const now = clock.now();
      const approved = await portal.accessRequests.change(request.ID, it => {
        if (!isOwnClaim(it)) throw problem.not_pending({ detail: { status: it.Status } });
        return { ...it, Status: 'approved', ClaimedAt: 0, UpdatedAt: now };
      });
      const decided = present(approved, 'Access request', 'unknown');
      const credential = await portal.credentials.insert({
        AccessRequestID: request.ID,
        ...toCredentialSecrets(key),
        CreatedAt: now,
      });
      if (isNew) await portal.notify('AccessRequestCreated', portalMessages.accessRequest(request));
      await portal.notify('AccessRequestApproved', portalMessages.accessRequest(decided));
      await portal.notify('CredentialRegistered', portalMessages.credential(credential, decided));
    });
  } catch (error) {
    await revokeAtProvider(key.key_id, request.ProviderID, services);
    throw error;
  }
}

export async function rejectRequest(
  id: number,
  services: Pick<PortalServices, 'portal' | 'records' | 'clock'>,
): Promise<void> {
  const { portal, records, clock } = services;
  await records.write(async () => {
    const rejected = await portal.accessRequests.change(id, it => {
      refuseDecided(it, clock.now());
      return { ...it, Status: 'rejected', UpdatedAt: clock.now() };
    });
    await portal.notify(
      'AccessRequestRejected',
      portalMessages.accessRequest(present(rejected, 'Access request', 'unknown')),
    );
  });
}
