import { formatPortalTime } from '#base/clock.ts';
import type { StoredAccessRequest } from '../access-requests/schema.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { StoredPortalUser } from '../users/schema.ts';
import { findState } from './found-credentials.ts';
import type { CredentialOutline } from './store.ts';

export type NoticeServices = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

/** Between two notices to the same owner: a repeated or further selection does not flood a mailbox. */
const noticeIntervalMs = 3_600_000;
/** Credentials that one mail names. */
const maxNamedCredentials = 50;

export const noticeResults = [
  'notified',
  'not expiring',
  'notified recently',
  'turned off',
  'no owner',
  'outbox full',
  'unknown',
] as const;
type NoticeResult = (typeof noticeResults)[number];

export interface NoticedCredential {
  readonly credential: CredentialOutline;
  readonly request: StoredAccessRequest;
}

/** Text of an administrator; without one, the notice is that of credentials that expire soon. */
export interface OwnerNote {
  readonly headline: string;
  readonly text: string;
}

/**
 * Notifies the owners of credentials, each once for all of theirs, as they chose by mail, on the site or not at all. A
 * notice without a note is for credentials that expire soon.
 */
export async function notifyOwners(
  found: readonly NoticedCredential[],
  note: OwnerNote | undefined,
  services: NoticeServices,
): Promise<{ readonly results: ReadonlyMap<number, NoticeResult>; readonly owners: number }> {
  const { portal, clock } = services;
  const results = new Map<number, NoticeResult>();
  const apps = await portal.apps.byIds([...new Set(found.map(({ request }) => request.AppID))]);
  const byOwner = new Map<number, NoticedCredential[]>();
  for (const it of found) {
    const owner = apps.get(it.request.AppID)?.UserID ?? 0;
    if (!note && findState(it.credential, clock.now()) !== 'expiring') results.set(it.credential.ID, 'not expiring');
    else byOwner.set(owner, [...(byOwner.get(owner) ?? []), it]);
  }
  let owners = 0;
  for (const [owner, own] of byOwner) {
    const result = await notifyOwner(owner, own, note, services);
    if (result === 'notified') owners++;
    for (const { credential } of own) results.set(credential.ID, result);
  }
  return { results, owners };
}

/** The row lock of the owner serialises concurrent notices. */
const notifyOwner = (
  owner: number,
  own: readonly NoticedCredential[],
  note: OwnerNote | undefined,
  services: NoticeServices,
): Promise<NoticeResult> =>
  services.records.write(async () => {
    const { portal, clock, settings } = services;
    const now = clock.now();
    const user = await portal.users.get(owner);
    if (!user?.Active) return 'no owner';
    const { mail, site } = (await portal.notifications.readChoices(user.ID)).credentials;
    if (!mail && !site) return 'turned off';
    // Half of the outbox is left to mails that report changes.
    if (mail && (await portal.mails.readQueue()).waiting > settings['portal.max_queued_mails'] / 2)
      return 'outbox full';
    let isRecent = false;
    await portal.users.change(user.ID, it => {
      isRecent = (it.CredentialNoticeAt ?? 0) > now - noticeIntervalMs;
      return isRecent ? it : { ...it, CredentialNoticeAt: now };
    });
    if (isRecent) return 'notified recently';
    await sendNotice(user, own, note, services);
    return 'notified';
  });

async function sendNotice(
  user: StoredPortalUser,
  own: readonly NoticedCredential[],
  note: OwnerNote | undefined,
  { portal, settings }: NoticeServices,
): Promise<void> {
  const toUrl = ({ request }: NoticedCredential) => `${readPortalUrl(settings)}/portal/private/apps/${request.AppID}`;
  const sorted = own.toSorted((a, b) => a.credential.Expires - b.credential.Expires);
  const [first, ...others] = sorted as [NoticedCredential, ...NoticedCredential[]];
  if (note)
    return portal.sendMail.send('credentialnote', user, {
      ...note,
      credentials: sorted.slice(0, maxNamedCredentials).map(it => describe(it)),
      url: own.every(it => it.request.AppID === first.request.AppID)
        ? toUrl(first)
        : `${readPortalUrl(settings)}/portal/private/apps`,
    });
  const { credential, request } = first;
  return portal.sendMail.send('keytoexpire', user, {
    app: request.Names.app,
    products: request.Names.products.join(', '),
    credential: { alias: request.Names.app, hash: credential.CredentialHash },
    date: formatPortalTime(credential.Expires),
    others: others.slice(0, maxNamedCredentials).map(it => describe(it)),
    renew_url: toUrl(first),
  });
}

const describe = ({ credential, request: { Names } }: NoticedCredential) => ({
  app: Names.app,
  products: Names.products.join(', '),
  hash: credential.CredentialHash,
  date: credential.Expires === 0 ? '' : formatPortalTime(credential.Expires),
});
