import { Problem } from '#base/problems.ts';
import { reconcileCertificate, refuseForeignListing } from '../certificates/provider-lists.ts';
import { listFingerprints, releaseCertificate } from '../certificates/settle.ts';
import { toCredentialSecrets } from '../credentials/issue.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import { mailApproved, mailRejected } from '../mails/access-mails.ts';
import { toRequestUser } from '../oauth-clients/scopes.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { guardClient, issueGuardedClient } from '../provider-tasks/client-guard.ts';
import { guardNewKey, issueGuardedKey } from '../provider-tasks/guard.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import { isProviderFailure } from '../providers/provider-client.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { type GrantedPlan, withGrantedPlan, withRequestedPlan } from './granted-plan.ts';
import { reportFailed } from './report-submitted.ts';
import type { StoredAccessRequest } from './schema.ts';

export type DecisionServices = Pick<
  PortalServices,
  'portal' | 'controlPlane' | 'identityProvider' | 'records' | 'clock' | 'settings'
>;

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
 * whose request was deleted or claimed again meanwhile, or whose process ended, is removed.
 */
export async function approveNewRequest(id: number, services: DecisionServices, granted?: GrantedPlan): Promise<void> {
  const { request, guard } = await services.records.write(async () => {
    const claimed = await claimRequest(id, services, granted);
    return { request: claimed, guard: await guardApproval(claimed, services) };
  });
  await completeApproval(request, guard, services);
}

/** Inside a transaction: claims a pending request, under a plan that is offered: the requested or the granted one. */
export async function claimRequest(
  id: number,
  services: DecisionServices,
  granted?: GrantedPlan,
): Promise<StoredAccessRequest> {
  const claim = services.clock.now();
  const changed = await services.portal.accessRequests.change(id, it => {
    refuseDecided(it, claim);
    return { ...withRequestedPlan(it), ClaimedAt: claim };
  });
  const request = present(changed, 'Access request', 'unknown');
  const plan = await lockVisiblePlan(granted?.plan.ID ?? request.PlanID, services);
  if (!granted) return request;
  // Before the request has the plan: it would count against the quota itself.
  await granted.checkQuota(plan);
  const claimed = await services.portal.accessRequests.change(id, it => withGrantedPlan(it, granted));
  return present(claimed, 'Access request', 'unknown');
}

/** Reason of a failed approval, for the administrator. */
export const describeDecisionFailure = (error: unknown): string =>
  error instanceof Problem ? error.message : 'The approval failed; see the log.';

/** Inside the transaction of the claim: see `guardNewKey` and `guardClient`. */
export function guardApproval(
  { ID, AppID, ProviderID, DCRTemplateID, ClaimedAt }: StoredAccessRequest,
  services: DecisionServices,
): Promise<StoredProviderTask> {
  if (!DCRTemplateID) return guardNewKey({ ProviderID, RequestID: ID }, services, ClaimedAt);
  const wish = { AppID, ProviderID, clientTypeId: DCRTemplateID, isShared: true, requestId: ID };
  return guardClient(wish, services, ClaimedAt);
}

type NewSecrets = Pick<
  StoredCredential,
  'Credential' | 'CredentialHash' | 'Expires' | 'OauthClientID' | 'RevealedAt' | 'Certificates'
>;

/** Has the provider make the key of a request, after its certificate is in the allow lists. */
async function issueKey(
  guard: StoredProviderTask,
  request: StoredAccessRequest,
  services: DecisionServices,
  store: (secrets: NewSecrets) => Promise<void>,
): Promise<void> {
  const { CertificateID } = request;
  const bound = CertificateID ? { Certificates: [{ ID: CertificateID, State: 'attached' as const }] } : {};
  try {
    for (const fingerprint of await listFingerprints(bound.Certificates ?? [], services)) {
      await refuseForeignListing(request, fingerprint, services);
      await reconcileCertificate(request.ProviderID, fingerprint, services);
    }
  } catch (error) {
    await services.portal.providerTasks.remove(guard.ID);
    throw error;
  }
  return issueGuardedKey(guard, { ...request, ...bound }, services, key =>
    store({ ...toCredentialSecrets(key), ...bound }),
  );
}

/** Has the provider make the key of a request, or the identity provider its OAuth client. */
async function issueGuarded(
  guard: StoredProviderTask,
  request: StoredAccessRequest,
  services: DecisionServices,
  store: (secrets: NewSecrets) => Promise<void>,
): Promise<void> {
  if (!request.DCRTemplateID) return issueKey(guard, request, services, store);
  const changed = { user: toRequestUser(request.ID), rights: request };
  return issueGuardedClient(guard, changed, services, async OauthClientID => {
    const { portal } = services;
    const others = await portal.accessRequests.listLive({ app_id: request.AppID });
    const users = (await portal.credentials.ofRequests(others.map(({ ID }) => ID))).filter(
      it => it.OauthClientID === OauthClientID,
    );
    // The secret of the client is shown once, whichever of its credentials is.
    const RevealedAt = Math.max(0, ...users.map(it => it.RevealedAt ?? 0));
    return store({ Credential: '', CredentialHash: '', Expires: 0, OauthClientID, RevealedAt });
  });
}

/** Inside a transaction: locks the plan row. A hidden plan issues no credentials. */
export async function lockVisiblePlan(id: number, { portal }: Pick<PortalServices, 'portal'>): Promise<StoredPlan> {
  const plan = await portal.plans.change(id, it => it);
  return present(plan?.Hidden ? undefined : plan, 'Plan', 'unknown');
}

/** Approval without an administrator, in one step with the request. */
export interface ImmediateApproval {
  /** A request that the provider refuses stays pending, and is reported to administrators. */
  readonly keepsRefused: boolean;
}

/** Issues the credential of a claimed request. With `immediate`, AccessRequestCreated is sent too. */
export async function completeApproval(
  request: StoredAccessRequest,
  guard: StoredProviderTask,
  services: DecisionServices,
  immediate?: ImmediateApproval,
): Promise<void> {
  const { portal, records, clock } = services;
  const isOwnClaim = (it: StoredAccessRequest) => it.Status === 'pending' && it.ClaimedAt === request.ClaimedAt;
  try {
    await issueGuarded(guard, request, services, async secrets => {
      const now = clock.now();
      const approved = await portal.accessRequests.change(request.ID, it => {
        if (!isOwnClaim(it)) throw problem.not_pending({ detail: { status: it.Status } });
        return { ...it, Status: 'approved', ClaimedAt: 0, UpdatedAt: now };
      });
      const decided = present(approved, 'Access request', 'unknown');
      const credential = await portal.credentials.insert({
        AccessRequestID: request.ID,
        ...secrets,
        CreatedAt: now,
      });
      if (immediate) await portal.notify('AccessRequestCreated', portalMessages.accessRequest(request));
      await portal.notify('CredentialRegistered', portalMessages.credential(credential, decided));
      await portal.notify('AccessRequestApproved', portalMessages.accessRequest(decided));
      await mailApproved(decided, services);
    });
  } catch (error) {
    const Failure = describeDecisionFailure(error);
    await records.write(async () => {
      const isLeft = Boolean(immediate?.keepsRefused) && isProviderFailure(error);
      const found = await portal.accessRequests.get(request.ID);
      const released = await portal.accessRequests.change(request.ID, it =>
        isOwnClaim(it)
          ? {
              ...withRequestedPlan(it),
              ClaimedAt: 0,
              ProvisionImmediately: it.ProvisionImmediately && !isLeft,
              Failure,
            }
          : it,
      );
      await releaseCertificate(request, services);
      if (isLeft && released && found && isOwnClaim(found)) await reportFailed(released, services);
    });
    throw error;
  }
}

export async function rejectRequest(
  id: number,
  reason: string,
  services: Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>,
): Promise<void> {
  const { portal, records, clock } = services;
  await records.write(async () => {
    const changed = await portal.accessRequests.change(id, it => {
      refuseDecided(it, clock.now());
      return { ...withRequestedPlan(it), Status: 'rejected', Reason: reason, UpdatedAt: clock.now() };
    });
    const rejected = present(changed, 'Access request', 'unknown');
    await portal.notify(
      rejected.Changes ? 'PlanChangeRejected' : 'AccessRequestRejected',
      portalMessages.accessRequest(rejected),
    );
    await mailRejected(rejected, reason, services);
  });
}
