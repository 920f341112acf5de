import type { StoredAccessRequest } from '../access-requests/schema.ts';
import { isSameBinding } from '../certificates/settle.ts';
import { mailCredentialChange } from '../mails/access-mails.ts';
import { present, problem } from '../problems.ts';
import { guardNewKey, issueGuardedKey } from '../provider-tasks/guard.ts';
import { performOrDefer, performOrRecord, type TaskServices } from '../provider-tasks/perform.ts';
import type { StoredProviderTask } from '../provider-tasks/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { toCredentialSecrets } from './issue.ts';
import { listFormerHashes, type StoredCredential } from './schema.ts';

/** 90 days. */
export const maxOverlapSeconds = 7_776_000;

/**
 * Rotates the key of a credential. The old one is valid for the overlap, and then removed; without one it is removed at
 * once. The new one has the end of the old one, and counts on from the quota that it has used: more of either needs a
 * request. Two keys are valid at most: an older one whose overlap is not over ends now. Of two concurrent rotations one
 * fails. From the transaction that stores the new key on, the end of the old one is a task that survives the process.
 */
export async function rotateKey(
  credential: StoredCredential,
  request: StoredAccessRequest,
  services: TaskServices,
  overlapSeconds = 0,
): Promise<void> {
  const { portal, clock, settings } = services;
  const maxSeconds = settings['portal.max_rotation_overlap_seconds'];
  if (overlapSeconds > maxSeconds) throw problem.overlap_too_long({ detail: { seconds: maxSeconds } });
  const { ID, Credential, CredentialHash, Expires, Certificates } = credential;
  if (credential.OauthClientID) throw problem.secret_fixed();
  if (Expires > 0 && Expires <= clock.now()) throw problem.credential_expired();
  const guard = await guardNewKey(request, services);
  const wanted = { ...request, ...(Certificates && { Certificates }), Replaced: credential };
  const ended = await issueGuardedKey(guard, wanted, services, async key => {
    await refuseChangedRights(request, services);
    const now = clock.now();
    const end = overlapSeconds === 0 ? 0 : now + overlapSeconds * 1000;
    const until = Expires > 0 && end > 0 ? Math.min(end, Expires) : end;
    const changed = await portal.credentials.change(ID, it => {
      if (it.Credential !== Credential || !isSameBinding(it, credential)) throw problem.rotated_already();
      const Former = { CredentialHash, Until: until };
      const times = { RotatedAt: now, RevealedAt: 0 };
      return { ...it, ...toCredentialSecrets(key), ...times, Former, FormerHashes: listFormerHashes(it) };
    });
    const rotated = present(changed, 'Credential', 'unknown');
    const former = await endFormerKeys(ID, services);
    const task = { Kind: 'end' as const, ProviderID: request.ProviderID, Key: Credential, Until: until };
    const last = await portal.providerTasks.add({ ...task, KeyHash: CredentialHash, CredentialID: ID }, now);
    await portal.notify('CredentialRotated', portalMessages.credential(rotated, request));
    await mailCredentialChange('rotated', rotated, request.AppID, services, until);
    return [...former, last];
  });
  for (const task of ended) await performOrDefer(task, services);
}

/** Inside a transaction: a key that was made while the plan changed has the rights of before. */
async function refuseChangedRights({ ID, PlanID, ProductIDs }: StoredAccessRequest, { portal }: TaskServices) {
  const current = present(await portal.accessRequests.change(ID, it => it), 'Access request', 'unknown');
  if (current.PlanID !== PlanID || String(current.ProductIDs) !== String(ProductIDs)) throw problem.rotated_already();
}

/** Inside a transaction: former keys of a credential are valid no longer; their tasks belong to this process. */
async function endFormerKeys(id: number, { portal, clock }: TaskServices): Promise<StoredProviderTask[]> {
  const tasks = (await portal.providerTasks.ofCredential(id)).filter(({ Kind }) => Kind === 'end');
  const ended: StoredProviderTask[] = [];
  for (const { ID } of tasks) {
    const claimed = await portal.providerTasks.endNow(ID, clock.now());
    if (claimed) ended.push(claimed);
  }
  return ended;
}

/** Ends the overlap of a rotation: the former key is removed now. False where none is valid. */
export async function endOverlap(id: number, services: TaskServices): Promise<boolean> {
  const ended = await services.records.write(async () => {
    await services.portal.credentials.change(id, it => it);
    return endFormerKeys(id, services);
  });
  for (const task of ended) await performOrRecord(task, services);
  return ended.length > 0;
}
