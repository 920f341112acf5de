import type { StoredProduct } from '../../products/schema.ts';
import { auditForm } from '../audit.ts';
import type { FieldErrors } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import { displayName } from '../offer.ts';
import type { SiteRequest, SiteServices } from '../page.ts';
import { readTermsField, renderTermsField } from './terms-field.ts';

/** Terms of a product, which a developer accepts with the first request of access under a version. */

type TermsVisitor = Pick<SiteRequest, 'visitor'>;

async function findProductTerms({ ID }: StoredProduct, { visitor }: TermsVisitor, { portal }: SiteServices) {
  const current = await portal.terms.findCurrent(ID);
  return current && !(await portal.terms.hasAccepted(visitor.user!.ID, current.ID)) ? current : undefined;
}

/** Tests whether a request of access would have to accept terms of a product. */
export const hasOpenTerms = async (product: StoredProduct, request: TermsVisitor, services: SiteServices) =>
  (await findProductTerms(product, request, services)) !== undefined;

export async function renderProductTerms(
  product: StoredProduct,
  errors: FieldErrors,
  request: SiteRequest,
  services: SiteServices,
): Promise<Markup | ''> {
  const open = await findProductTerms(product, request, services);
  return open ? html`<h2>Terms</h2>${renderTermsField(open, errors, `terms of ${displayName(product)}`)}` : '';
}

/** Records the acceptance of a form; false, with a fault in `errors`, without the tick. */
export async function acceptProductTerms(
  product: StoredProduct,
  errors: Map<string, string>,
  request: SiteRequest,
  services: SiteServices,
): Promise<boolean> {
  const open = await findProductTerms(product, request, services);
  readTermsField(request.form, open, errors);
  if (!open) return true;
  if (errors.has('terms')) return false;
  const { ID: UserID, Email } = request.visitor.user!;
  const acceptance = { TermsID: open.ID, UserID, Email, Address: request.address, AcceptedAt: services.clock.now() };
  await services.portal.terms.accept(acceptance);
  await auditForm('acceptTerms', request, request.visitor.user, 200, services, String(open.ID));
  return true;
}
