import type { Key } from '#access/keys/schema.ts';
import { formatIsoTime, formatPortalTime } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import { createLease } from '#storage/lease.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { StoredCredential } from '../credentials/schema.ts';
import type { StoredPlan } from '../plans/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { callProvider, isProviderFailure } from '../providers/provider-client.ts';
import type { StoredProvider } from '../providers/schema.ts';
import { portalMessages } from '../webhooks/notify.ts';

export type QuotaNoticeServices = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock' | 'settings'> & {
  readonly log: Pick<Log, 'warn'>;
};

const intervalMs = 300_000;
/** Highest first: a threshold that is reached covers those below it. */
const thresholdPercents = [100, 90, 75] as const;

/** Quota of a key in the current period. */
export interface QuotaUse {
  readonly used: number;
  readonly max: number;
  /** 0 where it does not renew. */
  readonly renewsAtMs: number;
}

interface QuotaCredential {
  readonly credential: StoredCredential;
  readonly request: StoredAccessRequest;
  readonly plan: StoredPlan;
}

export const hasQuota = (plan: StoredPlan | undefined): plan is StoredPlan =>
  plan !== undefined && !plan.UnlimitedQuota && plan.Quota > 0;

/** Keys of approved requests under plans with a quota. */
async function findLimited(requestIds: readonly number[], { portal }: QuotaNoticeServices): Promise<QuotaCredential[]> {
  const requests = [...(await portal.accessRequests.byIds(requestIds)).values()];
  const plans = await portal.plans.byIds(requests.map(({ PlanID }) => PlanID));
  const limited = requests.filter(it => it.Status === 'approved' && hasQuota(plans.get(it.PlanID)));
  const credentials = await portal.credentials.ofRequests(limited.map(({ ID }) => ID));
  return credentials.flatMap(credential => {
    const request = limited.find(({ ID }) => ID === credential.AccessRequestID);
    return request && credential.Credential !== '' ? [{ credential, request, plan: plans.get(request.PlanID)! }] : [];
  });
}

/** Quota of a key as its provider counts it; undefined where it cannot tell. */
export function toQuotaUse(key: Key | undefined, plan: StoredPlan): QuotaUse | undefined {
  if (key?.quota_remaining === undefined) return undefined;
  const renewsAtMs = plan.QuotaRenewalRate > 0 ? (key.quota_renews ?? 0) * 1000 : 0;
  return { used: plan.Quota - Math.max(0, key.quota_remaining), max: plan.Quota, renewsAtMs };
}

/** Providers of one run; one that fails is not called again in it. */
function createProviderReader({ portal, log }: QuotaNoticeServices) {
  const providers = new Map<number, StoredProvider | undefined>();
  return {
    async get(id: number): Promise<StoredProvider | undefined> {
      if (!providers.has(id)) providers.set(id, await portal.providers.get(id));
      return providers.get(id);
    },
    skip({ ID, Name: provider }: StoredProvider, { message: reason }: Error): void {
      providers.set(ID, undefined);
      log.warn({ provider, reason }, 'quotas of provider unreadable, retrying');
    },
  };
}

/** Reports credentials whose quota is used to a threshold, each once in a period, to owners of apps and to webhooks. */
export async function sendQuotaNotices(services: QuotaNoticeServices, isStopping = () => false): Promise<void> {
  const providers = createProviderReader(services);
  for await (const batch of services.portal.expiryNotices.readCredentials())
    for (const found of await findLimited(
      batch.map(it => it.AccessRequestID),
      services,
    )) {
      if (isStopping()) return;
      const provider = await providers.get(found.request.ProviderID);
      if (!provider) continue;
      try {
        const key = await callProvider(provider, services, plane => plane.readKey(found.credential.Credential));
        const use = toQuotaUse(key, found.plan);
        if (use) await reportUse(found, use, services);
      } catch (error) {
        if (!isProviderFailure(error)) throw error;
        providers.skip(provider, error);
      }
    }
}

async function reportUse(found: QuotaCredential, use: QuotaUse, services: QuotaNoticeServices): Promise<void> {
  const { portal, records } = services;
  const reached = thresholdPercents.filter(percent => use.used * 100 >= use.max * percent);
  if (reached.length === 0) return;
  await records.write(async () => {
    const marked: boolean[] = [];
    for (const percent of reached)
      marked.push(await portal.expiryNotices.markQuota(found.credential.ID, percent, use.renewsAtMs));
    if (marked[0]) await report(found, use, reached[0]!, services);
  });
}

/** Inside a transaction. */
async function report(
  { credential, request, plan }: QuotaCredential,
  { used, max, renewsAtMs }: QuotaUse,
  percent: number,
  { portal, settings, clock }: QuotaNoticeServices,
): Promise<void> {
  const app = await portal.apps.get(request.AppID);
  const user = app && (await portal.users.get(app.UserID));
  if (!user) return;
  await portal.notify('QuotaThreshold', {
    ...portalMessages.credential({ ID: credential.ID, CreatedAt: clock.now() }, request),
    Percent: percent,
    Used: used,
    Quota: max,
    RenewsAt: renewsAtMs === 0 ? '' : formatIsoTime(renewsAtMs),
  });
  await portal.sendMail.send('quota', user, {
    app: app.Name,
    credential: { alias: app.Name, hash: credential.CredentialHash },
    plan: plan.DisplayName || plan.Name,
    percent,
    used,
    max,
    renews: renewsAtMs === 0 ? '' : formatPortalTime(renewsAtMs),
    app_url: `${readPortalUrl(settings)}/portal/private/apps/${app.ID}`,
  });
}

/** Sends notices on a timer, by one of the processes on the database. */
export function startQuotaNotices(options: QuotaNoticeServices & { readonly node: string }): RepeatedWork {
  const { records, clock, log, node } = options;
  const lease = createLease(records, 'portal-quota-notices', node);
  let isStopping = false;
  const run = async () => {
    if (await lease.take(clock.now(), intervalMs)) await sendQuotaNotices(options, () => isStopping);
  };
  const onError = ({ message: reason }: Error) => log.warn({ reason }, 'quota notices not sent, retrying');
  const work = every(intervalMs, run, { onError, unref: true });
  const stop = () => {
    isStopping = true;
    work.stop();
  };
  return {
    wake: work.wake,
    stop,
    close() {
      stop();
      return work.close();
    },
  };
}
