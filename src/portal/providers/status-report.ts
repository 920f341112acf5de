import { formatIsoTime } from '#base/clock.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import { addSyncRun, type StoredProvider } from './schema.ts';

type ReportServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;
const noUser = { First: '', Last: '', Email: '' };

/**
 * Records that a synchronisation failed. Administrators get a mail where the provider, as it was read before the call,
 * was not down yet, not for each failure.
 */
export function reportProviderDown(
  { ID, Name, Status }: StoredProvider,
  reason: string,
  { portal, records, clock, settings }: ReportServices,
): Promise<void> {
  return records.write(async () => {
    const run = { At: clock.now(), Error: reason };
    await portal.providers.change(ID, it => ({ ...addSyncRun(it, run), Status: 'Down', LastError: reason }));
    if (Status === 'Down') return;
    await portal.notify('ProviderDown', { ID, Name, Reason: reason, CreatedAt: formatIsoTime(clock.now()) });
    await portal.sendMail.sendToAdministrators('ops', noUser, {
      what: `Provider ${Name}`,
      facts: reason,
      admin_url: `${readPortalUrl(settings)}/admin/providers/${ID}`,
    });
  });
}

/** Inside a transaction: reports a synchronisation, and that the provider is available again. */
export async function reportSynchronized(
  before: StoredProvider,
  counts: { readonly Products: number; readonly Plans: number },
  { portal, clock }: ReportServices,
): Promise<void> {
  const message = { ID: before.ID, Name: before.Name, CreatedAt: formatIsoTime(clock.now()) };
  if (before.Status === 'Down') await portal.notify('ProviderUp', message);
  await portal.notify('SyncFinished', { ...message, ...counts });
}
