import { formatPortalTime } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { every, type RepeatedWork } from '#base/repeat.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { StoredProduct } from '../products/schema.ts';
import { findVisibleProduct, identifyVisitor } from '../visibility/visibility.ts';
import type { StoredChange } from './schema.ts';

export type AnnouncementServices = Pick<PortalServices, 'portal' | 'records' | 'settings'>;

/** Subscribers of one transaction. */
const pageSubscribers = 100;
const intervalMs = 2000;

/**
 * Inside a transaction that locks the entry: notifies the next subscribers to whom the product is visible. Their
 * progress is part of the entry, so that another process continues after the end of this one.
 */
export async function announceToPage(
  change: StoredChange,
  product: StoredProduct,
  { portal, settings }: Pick<AnnouncementServices, 'portal' | 'settings'>,
): Promise<StoredChange> {
  const { AnnouncedTo = 0, ...entry } = change;
  const ids = await portal.changelog.subscribersAfter(product.ID, AnnouncedTo, pageSubscribers);
  const url = `${readPortalUrl(settings)}/portal/catalogue-products/${encodeURIComponent(product.Path)}/changelog`;
  for (const user of (await portal.users.byIds(ids)).values()) {
    const visitor = await identifyVisitor(user.ID, { portal });
    if (visitor.kind === 'anonymous' || !(await findVisibleProduct(visitor, product.ID, { portal }))) continue;
    await portal.sendMail.send('announce', user, {
      product: product.DisplayName || product.Name,
      headline: change.Headline,
      kind: change.Kind,
      version: change.Version,
      date: formatPortalTime(change.ReleasedAt),
      text: change.Text,
      url,
    });
  }
  return ids.length < pageSubscribers ? entry : { ...entry, AnnouncedTo: ids.at(-1)! };
}

/** Notifies the subscribers that are left. While the outbox is half full it waits, so that no mail is dropped. */
export async function continueAnnouncements(services: AnnouncementServices): Promise<void> {
  const { portal, records, settings } = services;
  for (let pending = await portal.changelog.nextAnnouncing(); pending; ) {
    if ((await portal.mails.readQueue()).waiting > settings['portal.max_queued_mails'] / 2) return;
    const { ID, ProductID } = pending;
    await records.write(() =>
      portal.changelog.change(ProductID, ID, async it => {
        const product = await portal.products.get(ProductID);
        const { AnnouncedTo, ...done } = it;
        if (AnnouncedTo === undefined || !product) return done;
        return announceToPage(it, product, services);
      }),
    );
    pending = await portal.changelog.nextAnnouncing();
  }
}

export function startAnnouncements(options: AnnouncementServices & { readonly log: Pick<Log, 'warn'> }): RepeatedWork {
  const onError = ({ message: reason }: Error) => options.log.warn({ reason }, 'announcements not sent, retrying');
  return every(intervalMs, () => continueAnnouncements(options), { onError, unref: true });
}
