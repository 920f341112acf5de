import { formatPortalTime } from '#base/clock.ts';
import type { PortalServices } from '../portal-stores.ts';
import { readPortalUrl } from '../portal-url.ts';
import type { StoredProduct } from '../products/schema.ts';
import { findVisibleProduct, identifyVisitor } from '../visibility/visibility.ts';
import type { StoredChange } from './schema.ts';

/** Subscribers of one product who get a mail about an entry, the first ones to subscribe by number. */
const maxRecipients = 1000;

/** Inside a transaction: notifies the subscribers to whom the product is still visible. */
export async function announceChange(
  change: StoredChange,
  product: StoredProduct,
  { portal, settings }: Pick<PortalServices, 'portal' | 'settings'>,
): Promise<void> {
  const ids = (await portal.changelog.subscribersOf(product.ID)).slice(0, maxRecipients);
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
}
