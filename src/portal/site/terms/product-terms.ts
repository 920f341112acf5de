import type { StoredProduct } from '../../products/schema.ts';
import type { TermsOutline } from '../../terms/store.ts';
import { auditForm } from '../audit.ts';
import type { FieldErrors } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import type { SiteRequest, SiteServices } from '../page.ts';
import { displayName } from '../words.ts';
import { readTermsField, renderTermsField } from './terms-field.ts';

/** Terms of a product, which a developer accepts with the first request of access under a version. */

type TermsVisitor = Pick<SiteRequest, 'visitor'>;

async function findProductTerms({ ID }: StoredProduct, { visitor }: TermsVisitor, { portal }: SiteServices) {
  const current = await portal.terms.findCurrent(ID);
  return current && !(await portal.terms.hasAccepted(visitor.user!.ID, current.ID)) ? current : undefined;
}

interface OpenTerms {
  readonly product: StoredProduct;
  readonly terms: TermsOutline;
  /** Name of the tick: the first product of a request has that of all forms with terms. */
  readonly field: string;
}

async function listOpenTerms(products: readonly StoredProduct[], request: TermsVisitor, services: SiteServices) {
  const open: OpenTerms[] = [];
  for (const [place, product] of products.entries()) {
    const terms = await findProductTerms(product, request, services);
    if (terms) open.push({ product, terms, field: place === 0 ? 'terms' : `terms-${product.ID}` });
  }
  return open;
}

/** Ticks of the terms of products that the visitor has not accepted. */
export async function renderProductTerms(
  products: readonly StoredProduct[],
  errors: FieldErrors,
  request: SiteRequest,
  services: SiteServices,
): Promise<Markup | ''> {
  const open = await listOpenTerms(products, request, services);
  if (open.length === 0) return '';
  return html`<h2>Terms</h2>${open.map(({ product, terms, field }) =>
    renderTermsField(terms, errors, `terms of ${displayName(product)}`, field),
  )}`;
}

/** Records the acceptances of a form; false, with faults in `errors` and none recorded, where a tick is missing. */
export async function acceptProductTerms(
  products: readonly StoredProduct[],
  errors: Map<string, string>,
  request: SiteRequest,
  services: SiteServices,
): Promise<boolean> {
  const open = await listOpenTerms(products, request, services);
  for (const { terms, field } of open) readTermsField(request.form, terms, errors, field);
  if (open.some(({ field }) => errors.has(field))) return false;
  const { ID: UserID, Email } = request.visitor.user!;
  for (const { terms } of open) {
    const acceptance = { TermsID: terms.ID, UserID, Email, Address: request.address, AcceptedAt: services.clock.now() };
    await services.portal.terms.accept(acceptance);
    await auditForm('acceptTerms', request, request.visitor.user, 200, services, String(terms.ID));
  }
  return true;
}
