import { getAccessType } from '../../apps/provision.ts';
import { partnersOf } from '../../join-table-store.ts';
import { isBoundToCertificate, type StoredProduct } from '../../products/schema.ts';
import { html, type Markup } from '../markup.ts';
import { displayName, findAccessObstacle, type PlanOffer, toCheckoutUrl } from '../offer.ts';
import { checkoutPath, type SiteRequest, type SiteServices } from '../page.ts';
import { hasOpenTerms } from '../terms/product-terms.ts';
import { readObjectId } from './own-apps.ts';

/** Products of one request, the first one included. */
const maxRequestedProducts = 20;
/** Products of a catalogue that are read, and those offered for a choice. */
const maxReadProducts = 1000;
const maxAddable = 50;

export interface MoreProducts {
  readonly added: readonly StoredProduct[];
  readonly addable: readonly StoredProduct[];
}

/** OAuth clients and client certificates are chosen by product: such products are requested alone. */
const canBeShared = (product: StoredProduct) =>
  !product.Hidden && !product.DCREnabled && !isBoundToCertificate(product) && !findAccessObstacle(product);

/**
 * Products that a list of numbers adds to the request of another one, and those that can be added: of the same
 * catalogue, whose plan is chosen, with the same authentication. Undefined where one of the list is none of them.
 */
export async function findMoreProducts(
  product: StoredProduct,
  { plan, catalogueId }: PlanOffer,
  list: string,
  request: Pick<SiteRequest, 'visitor'>,
  services: SiteServices,
): Promise<MoreProducts | undefined> {
  const { catalogues, products } = services.portal;
  const ids = [...new Set(list.split(',').filter(Boolean))].map(readObjectId);
  if (!canBeShared(product)) return ids.length === 0 ? { added: [], addable: [] } : undefined;
  const offered = partnersOf(await catalogues.products.rightOf([catalogueId]), catalogueId).slice(-maxReadProducts);
  const isFitting = (it: StoredProduct) =>
    it.ID !== product.ID &&
    it.ProviderID === plan.ProviderID &&
    canBeShared(it) &&
    getAccessType(it) === getAccessType(product);
  const candidates = [...(await products.byIds(offered)).values()].filter(isFitting);
  const ordered = [
    ...candidates.filter(({ ID }) => ids.includes(ID)),
    ...candidates.filter(({ ID }) => !ids.includes(ID)),
  ];
  const fitting: StoredProduct[] = [];
  for (const it of ordered.slice(0, maxAddable)) if (!(await hasOpenTerms(it, request, services))) fitting.push(it);
  const added = ids.flatMap(id => fitting.find(({ ID }) => ID === id) ?? []);
  if (added.length < ids.length || added.length >= maxRequestedProducts) return undefined;
  return { added, addable: added.length + 1 < maxRequestedProducts ? fitting.filter(it => !added.includes(it)) : [] };
}

export const formatProductList = (products: readonly StoredProduct[]): string => products.map(({ ID }) => ID).join();

/** Added products, each with a link that removes it. */
export const renderAdded = (product: StoredProduct, chosen: PlanOffer, added: readonly StoredProduct[]): Markup | '' =>
  added.length === 0
    ? ''
    : html`<ul class="facts">${added.map(it => {
        const rest = formatProductList(added.filter(other => other !== it));
        const url = `${toCheckoutUrl(product, chosen)}${rest && `&also=${rest}`}`;
        return html`<li>${displayName(it)} <a href="${url}" aria-label="Remove ${displayName(it)}">Remove</a></li>`;
      })}</ul>`;

/** Form that adds a product to the request; the rest of the request is filled in after it. */
export const renderAddForm = (
  product: StoredProduct,
  { plan, catalogueId }: PlanOffer,
  { added, addable }: MoreProducts,
): Markup | '' =>
  addable.length === 0
    ? ''
    : html`<form class="inline" method="get" action="${checkoutPath}">
<input type="hidden" name="product" value="${product.Path}"><input type="hidden" name="plan" value="${plan.ID}">
<input type="hidden" name="catalogue" value="${catalogueId}">
<input type="hidden" name="also" value="${formatProductList(added)}">
<label>Add another product to this request <select name="add">${addable.map(
        it => html`<option value="${it.ID}">${displayName(it)}</option>`,
      )}</select></label><button class="secondary">Add product</button></form>`;
