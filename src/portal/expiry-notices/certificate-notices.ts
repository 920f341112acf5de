import { formatPortalTime } from '#base/clock.ts';
import { listUses } from '../certificates/removal.ts';
import type { StoredPortalCertificate } from '../certificates/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { findExpiryStage } from './expiry-stage.ts';
import type { ExpiryStage } from './store.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Reports client certificates in use that expire soon or have expired, each once, to the owners of their apps. */
export async function sendCertificateNotices(services: Services): Promise<void> {
  const { portal, records, clock, settings } = services;
  for await (const batch of portal.certificates.readAll())
    for (const certificate of batch) {
      const stage = findExpiryStage(certificate.NotAfter, clock.now(), settings['portal.expiry_notice_days']);
      if (stage && certificate.Noticed !== stage) await records.write(() => report(certificate, stage, services));
    }
}

/** Inside a transaction: the row lock of the mark lets one of several processes report. */
async function report(
  { ID, AppID, Name, Subject, Fingerprint, NotAfter }: StoredPortalCertificate,
  stage: ExpiryStage,
  { portal, settings }: Services,
): Promise<void> {
  if ((await listUses(AppID, portal))(ID).credentials.length === 0) return;
  let isFirst = false;
  await portal.certificates.change(ID, it => {
    isFirst = it.Noticed !== stage;
    return { ...it, Noticed: stage };
  });
  const app = isFirst ? await portal.apps.get(AppID) : undefined;
  const user = app && (await portal.users.get(app.UserID));
  if (!user) return;
  await portal.sendMail.send(stage === 'expired' ? 'certexpired' : 'certtoexpire', user, {
    app: app.Name,
    certificate: { name: Name, subject: Subject, fingerprint: Fingerprint },
    date: formatPortalTime(NotAfter),
    app_url: `${readPortalUrl(settings)}/portal/private/apps/${app.ID}`,
  });
}
