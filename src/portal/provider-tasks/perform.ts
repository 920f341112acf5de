import { withRequestedPlan } from '../access-requests/granted-plan.ts';
import { reportFailed } from '../access-requests/report-submitted.ts';
import { reconcileCertificate } from '../certificates/provider-lists.ts';
import {
  addCertificateTasks,
  listFingerprints,
  releaseCertificate,
  settleBindings,
  settleCertificate,
} from '../certificates/settle.ts';
import { listKeyHashes } from '../credentials/schema.ts';
import { mailCredentialChange } from '../mails/access-mails.ts';
import { reconcileClient } from '../oauth-clients/registration.ts';
import { toCustomUser, toRequestUser } from '../oauth-clients/scopes.ts';
import type { PortalServices } from '../portal-stores.ts';
import { callProvider, isProviderFailure } from '../providers/provider-client.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { type AppliedKeys, applyRights, completeChange } from './apply.ts';
import type { ProviderTaskKind, StoredProviderTask } from './schema.ts';

export type TaskServices = Pick<
  PortalServices,
  'portal' | 'controlPlane' | 'identityProvider' | 'records' | 'clock' | 'settings'
>;

export const interruptedApproval = 'The approval was interrupted; no key was issued.';
/** The response of a registration is lost: the identity provider alone knows the client, which has no use. */
export const interruptedRegistration =
  'The approval was interrupted; an OAuth client without use may be left at the identity provider.';

/**
 * Makes the call of a task, then records its effect; both are idempotent, so that a task whose process ended in between
 * is performed again. A key that stays valid for a time gets this expiry, and is removed at its end.
 */
export async function performTask(task: StoredProviderTask, services: TaskServices): Promise<void> {
  if (task.Kind === 'change') return applyChange(task, services);
  if (task.Kind === 'restore') return restoreRights(task, services);
  if (task.Kind === 'client') return settleClient(task, services);
  if (task.Kind === 'certificate') return settleCertificate(task, services);
  if (task.Kind === 'bind') return settleBindings(task, services);
  if (task.OauthClientID) return withdrawFromClient(task, services);
  const { portal, clock } = services;
  const provider = await portal.providers.get(task.ProviderID);
  if (task.Until > clock.now()) {
    const expires = Math.floor(task.Until / 1000);
    if (provider) await callProvider(provider, services, plane => plane.expireKey(task.Key, expires));
    await portal.providerTasks.postpone(task.ID, task.Until);
    return;
  }
  if (provider) await callProvider(provider, services, plane => plane.deleteKey(task.Key));
  if (task.Kind === 'revoke') await withdrawCertificates(task, services);
  await completeTask(task, services);
}

/** Takes the certificates of a revoked credential from the allow lists where no other credential has them. */
async function withdrawCertificates({ CredentialID, ProviderID }: StoredProviderTask, services: TaskServices) {
  const credential = await services.portal.credentials.get(CredentialID);
  if (!credential?.Certificates) return;
  const ended = { requestId: credential.AccessRequestID, ProductIDs: [] };
  for (const fingerprint of await listFingerprints(credential.Certificates, services))
    await reconcileCertificate(ProviderID, fingerprint, services, ended);
}

/** As `performTask`; a failure is recorded, and the task is repeated later. */
export async function performOrRecord(task: StoredProviderTask, services: TaskServices): Promise<void> {
  try {
    await performTask(task, services);
  } catch (error) {
    await services.portal.providerTasks.defer(task, (error as Error).message, services.clock.now());
    throw error;
  }
}

/** As `performOrRecord`, without the error of a provider. */
export async function performOrDefer(task: StoredProviderTask, services: TaskServices): Promise<void> {
  try {
    await performOrRecord(task, services);
  } catch (error) {
    if (!isProviderFailure(error)) throw error;
  }
}

const completions = { abandon: releaseRequest, end: forgetFormerKey, revoke: removeRevoked };

const isCompletedApart = (kind: ProviderTaskKind): kind is keyof typeof completions => Object.hasOwn(completions, kind);

/** Removes the task together with its effect on the records. */
export const completeTask = (task: StoredProviderTask, services: TaskServices): Promise<void> =>
  services.records.write(async () => {
    const { Kind } = task;
    if (!isCompletedApart(Kind)) throw new Error(`${Kind} completes with its calls`);
    const revoked = Kind === 'revoke' ? await services.portal.credentials.get(task.CredentialID) : undefined;
    await lockTaskRows([task.RequestID || (revoked?.AccessRequestID ?? 0)], task.CredentialID, services);
    if (await services.portal.providerTasks.remove(task.ID)) await completions[Kind](task, services);
  });

/** Lock order of every transaction that changes several of them: requests, then credential, then tasks. */
async function lockTaskRows(requestIds: readonly number[], credentialId: number, { portal }: TaskServices) {
  for (const id of requestIds) if (id > 0) await portal.accessRequests.change(id, it => it);
  if (credentialId > 0) await portal.credentials.change(credentialId, it => it);
}

/** Brings an OAuth client to what the records say: after an approval that did not end, or a failed change. */
async function settleClient(task: StoredProviderTask, services: TaskServices): Promise<void> {
  const { portal, records } = services;
  const client = await portal.registeredClients.get(task.OauthClientID ?? 0);
  await reconcileClient(task.OauthClientID ?? 0, services);
  await records.write(async () => {
    await lockTaskRows([task.RequestID], 0, services);
    const failure = client?.ClientID === '' ? interruptedRegistration : interruptedApproval;
    if (await portal.providerTasks.remove(task.ID)) await releaseRequest(task, services, failure);
  });
}

/** Takes the rights of a revoked credential from its OAuth client, which is deleted with the last one. */
async function withdrawFromClient(task: StoredProviderTask, services: TaskServices): Promise<void> {
  const credential = await services.portal.credentials.get(task.CredentialID);
  const user = task.CustomID ? toCustomUser(task.CustomID) : toRequestUser(credential?.AccessRequestID ?? 0);
  await reconcileClient(task.OauthClientID!, services, { user, rights: undefined });
  await completeTask(task, services);
}

/** Gives the keys of a changed request their new rights; then it has the new plan and products. */
export async function applyChange(task: StoredProviderTask, services: TaskServices): Promise<void> {
  const { portal, records } = services;
  const change = await portal.accessRequests.get(task.RequestID);
  const isOpen = change?.Changes && change.Status === 'pending';
  const before = isOpen ? await portal.accessRequests.get(change.Changes!) : undefined;
  const keepsPlan = before?.PlanID === change?.PlanID;
  const applied: AppliedKeys = isOpen ? await applyRights(change.Changes!, change, keepsPlan, services) : new Map();
  await records.write(async () => {
    await lockTaskRows([change?.Changes ?? 0, task.RequestID], task.CredentialID, services);
    if (await portal.providerTasks.remove(task.ID)) await completeChange(task, applied, services);
  });
}

async function restoreRights(task: StoredProviderTask, services: TaskServices): Promise<void> {
  const { portal } = services;
  const request = await portal.accessRequests.get(task.RequestID);
  if (request && (await portal.providers.get(task.ProviderID)))
    await applyRights(request.ID, request, task.KeepsPlan ?? false, services);
  await portal.providerTasks.remove(task.ID);
}

/** The request of an interrupted approval is pending again, and says why. */
async function releaseRequest(
  { RequestID, CreatedAt }: StoredProviderTask,
  services: TaskServices,
  Failure = interruptedApproval,
): Promise<void> {
  if (RequestID === 0) return;
  const { portal } = services;
  const isOwn = (it: { Status: string; ClaimedAt: number }) => it.Status === 'pending' && it.ClaimedAt === CreatedAt;
  const found = await portal.accessRequests.get(RequestID);
  if (!found || !isOwn(found)) return;
  const released = await portal.accessRequests.change(RequestID, it =>
    isOwn(it) ? { ...withRequestedPlan(it), ClaimedAt: 0, ProvisionImmediately: false, Failure } : it,
  );
  if (released) await releaseCertificate(released, services);
  // An immediate approval reports its request with the decision, which is left to an administrator now.
  if (!released || !found.ProvisionImmediately) return;
  await reportFailed(released, services);
}

/** A later rotation may have left another former key. */
async function forgetFormerKey({ CredentialID, KeyHash }: StoredProviderTask, { portal }: TaskServices): Promise<void> {
  await portal.credentials.change(CredentialID, it => {
    const { Former, ...credential } = it;
    return Former?.CredentialHash === KeyHash ? credential : it;
  });
}

/** Of one access request. */
const maxRevokedHashes = 100;

/** The credential goes with its key, unless another rotation gave it a new one. */
async function removeRevoked(task: StoredProviderTask, services: TaskServices): Promise<void> {
  const { CredentialID, Key, CustomID = 0 } = task;
  const { portal, clock } = services;
  if (CustomID > 0) return void (await portal.customCredentials.remove(CustomID));
  const credential = await portal.credentials.get(CredentialID);
  if (credential?.Credential !== Key || !(await portal.credentials.remove(credential))) return;
  for (const { ID } of await portal.providerTasks.ofCredential(CredentialID))
    await portal.providerTasks.endNow(ID, clock.now());
  await addCertificateTasks(task.ProviderID, await listFingerprints(credential.Certificates ?? [], services), services);
  const hashes = listKeyHashes(credential);
  const request = await portal.accessRequests.change(credential.AccessRequestID, it => ({
    ...it,
    RevokedHashes: [...hashes, ...(it.RevokedHashes ?? [])].slice(0, maxRevokedHashes),
  }));
  if (!request) return;
  await portal.notify('CredentialRevoked', portalMessages.credential(credential, request));
  await mailCredentialChange('revoked', credential, request.AppID, services);
}
