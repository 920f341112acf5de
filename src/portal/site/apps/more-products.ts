import { getAccessType } from '../../apps/provision.ts';
import { partnersOf } from '../../join-table-store.ts';
import type { StoredProduct } from '../../products/schema.ts';
import { formatAuth } from '../auth-words.ts';
import { html, type Markup } from '../markup.ts';
import { findAccessObstacle, type PlanOffer, toCheckoutUrl } from '../offer.ts';
import { checkoutPath, type SiteServices, toProductUrl } from '../page.ts';
import { displayName } from '../words.ts';
import { readObjectId } from './own-apps.ts';

/** Products of one request, the first one included. */
const maxRequestedProducts = 20;
/** Products of a catalogue that are read, and those offered for a choice. */
const maxReadProducts = 1000;
const maxAddable = 50;
/** Products named that need a request of their own. */
const maxExcluded = 20;

export interface MoreProducts {
  readonly added: readonly StoredProduct[];
  readonly addable: readonly StoredProduct[];
  /** Products of the catalogue that need a request of their own, with the reason. */
  readonly excluded: readonly { readonly product: StoredProduct; readonly reason: string }[];
}

/** Why a product cannot be part of a request for another one under a plan; undefined where it can. */
function findMisfit(it: StoredProduct, product: StoredProduct, { plan }: PlanOffer): string | undefined {
  if (it.ProviderID !== plan.ProviderID) return 'is offered under other plans';
  if (getAccessType(it) === getAccessType(product)) return undefined;
  const auth = formatAuth(it);
  return auth ? `needs another credential: ${auth}` : 'needs no credential';
}

/** Products of the chosen catalogue that can be requested; `first`: those of a list, then the others. */
async function listCandidates(first: readonly number[], { catalogueId }: PlanOffer, services: SiteServices) {
  const { catalogues, products } = services.portal;
  const offered = partnersOf(await catalogues.products.rightOf([catalogueId]), catalogueId).slice(-maxReadProducts);
  const candidates = [...(await products.byIds(offered)).values()].filter(it => !it.Hidden && !findAccessObstacle(it));
  return [...candidates.filter(({ ID }) => first.includes(ID)), ...candidates.filter(({ ID }) => !first.includes(ID))];
}

/** Tests whether an OAuth client of one type can be for some products and one more. */
async function createClientTest(
  products: readonly StoredProduct[],
  more: readonly StoredProduct[],
  services: SiteServices,
) {
  const attached = await services.portal.clientTypes.products.leftOf([...products, ...more].map(({ ID }) => ID));
  const typesOf = ({ ID }: StoredProduct) => partnersOf(attached, ID);
  const shared = typesOf(products[0]!).filter(type => products.every(it => typesOf(it).includes(type)));
  return (it: StoredProduct) => !it.DCREnabled || shared.some(type => typesOf(it).includes(type));
}

/**
 * Products that a list of numbers adds to the request of another one, and those that can be added: of the same
 * catalogue, whose plan is chosen, with the same authentication. Undefined where one of the list is none of them.
 */
export async function findMoreProducts(
  product: StoredProduct,
  chosen: PlanOffer,
  list: string,
  services: SiteServices,
): Promise<MoreProducts | undefined> {
  const ids = [...new Set(list.split(',').filter(Boolean))].map(readObjectId);
  const candidates = (await listCandidates(ids, chosen, services)).filter(({ ID }) => ID !== product.ID);
  const fitting = candidates.filter(it => findMisfit(it, product, chosen) === undefined).slice(0, maxAddable);
  const added = ids.flatMap(id => fitting.find(({ ID }) => ID === id) ?? []);
  const all = [product, ...added];
  if (added.length < ids.length || all.length > maxRequestedProducts) return undefined;
  const sharesClient = await createClientTest(all, fitting, services);
  if (!all.every(sharesClient)) return undefined;
  const others = fitting.filter(it => !added.includes(it));
  const excluded = [
    ...candidates.map(it => ({ product: it, reason: findMisfit(it, product, chosen) })),
    ...others.filter(it => !sharesClient(it)).map(it => ({ product: it, reason: 'has no client type in common' })),
  ];
  return {
    added,
    addable: all.length < maxRequestedProducts ? others.filter(sharesClient) : [],
    excluded: excluded
      .flatMap(it => (it.reason ? [{ product: it.product, reason: it.reason }] : []))
      .slice(0, maxExcluded),
  };
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

/** Products of the catalogue that this request cannot have, with the reason. */
export const renderExcluded = ({ excluded }: MoreProducts): Markup | '' =>
  excluded.length === 0
    ? ''
    : html`<details><summary>Products that need a request of their own</summary><ul class="facts">${excluded.map(
        ({ product, reason }) =>
          html`<li><a href="${toProductUrl(product)}#plans">${displayName(product)}</a> ${reason}</li>`,
      )}</ul></details>`;
