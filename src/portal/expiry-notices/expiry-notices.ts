import { formatPortalTime } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import { createLease } from '#storage/lease.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { portalMessages } from '../webhooks/notify.ts';
import { sendCertificateNotices } from './certificate-notices.ts';
import { findExpiryStage } from './expiry-stage.ts';
import type { ExpiringCredential, ExpiryStage } from './store.ts';

export type ExpiryServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

const intervalMs = 1_800_000;

/** Reports credentials and client certificates that expire soon or have expired, each once, to the owners of apps. */
export async function sendExpiryNotices(services: ExpiryServices): Promise<void> {
  const { portal, records, clock, settings } = services;
  const noticeDays = settings['portal.expiry_notice_days'];
  if (noticeDays === 0) return;
  for await (const batch of portal.expiryNotices.readCredentials())
    for (const credential of batch) {
      const stage = findExpiryStage(credential.Expires, clock.now(), noticeDays);
      if (stage)
        await records.write(async () => {
          if (await portal.expiryNotices.mark(credential.ID, stage, credential.Expires))
            await report(credential, stage, services);
        });
    }
  await portal.expiryNotices.prune();
  await sendCertificateNotices(services);
}

/** Inside a transaction. */
async function report(
  credential: ExpiringCredential,
  stage: ExpiryStage,
  { portal, settings, clock }: ExpiryServices,
): Promise<void> {
  const request = await portal.accessRequests.get(credential.AccessRequestID);
  const app = request && (await portal.apps.get(request.AppID));
  const user = app && (await portal.users.get(app.UserID));
  if (!user) return;
  const event = stage === 'expired' ? 'CredentialExpired' : 'CredentialExpiring';
  await portal.notify(event, portalMessages.credential({ ID: credential.ID, CreatedAt: clock.now() }, request));
  await portal.sendMail.send(stage === 'expired' ? 'keyexpired' : 'keytoexpire', user, {
    app: app.Name,
    products: request.Names.products.join(', '),
    credential: { alias: app.Name, hash: credential.CredentialHash },
    date: formatPortalTime(credential.Expires),
    others: [],
    renew_url: `${readPortalUrl(settings)}/portal/private/apps/${app.ID}`,
  });
}

/** Sends notices on a timer, by one of the processes on the database. */
export function startExpiryNotices(
  options: ExpiryServices & { readonly log: Pick<Log, 'warn'>; readonly node: string },
): RepeatedWork {
  const { records, clock, log, node } = options;
  const lease = createLease(records, 'portal-expiry-notices', node);
  const run = async () => {
    if (await lease.take(clock.now(), intervalMs)) await sendExpiryNotices(options);
  };
  const onError = ({ message: reason }: Error) => log.warn({ reason }, 'expiry notices not sent, retrying');
  return every(intervalMs, run, { onError, unref: true });
}
