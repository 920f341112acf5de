import type { StoredProduct } from '../products/schema.ts';
import { isDocumentationOnly } from '../products/schema.ts';
import { html, type Markup } from './markup.ts';
import { displayName } from './offer.ts';
import { toProductUrl } from './page.ts';
import { formatAuth, listKinds } from './words.ts';

export interface ProductCard {
  readonly product: StoredProduct;
  readonly tags: readonly string[];
  readonly hasAccess?: boolean;
}

/** Letters in place of an image. */
const toInitials = (name: string) =>
  name
    .split(/\s+/)
    .map(word => word[0] ?? '')
    .join('')
    .slice(0, 2)
    .toUpperCase();

export const renderProductImage = (product: StoredProduct): Markup =>
  (product.Images ?? []).length > 0
    ? html`<img class="logo" src="${toProductUrl(product)}/image" alt="" width="44" height="44" loading="lazy">`
    : html`<span class="logo hue-${product.ID % 6}" aria-hidden="true">${toInitials(displayName(product))}</span>`;

export function renderBadges(product: StoredProduct): Markup {
  const auth = formatAuth(product);
  return html`<ul class="badges">${listKinds(product).map(kind => html`<li class="badge">${kind}</li>`)}
${auth ? html`<li class="badge">${auth}</li>` : ''}
${isDocumentationOnly(product) ? html`<li class="badge">Documentation only</li>` : ''}</ul>`;
}

/** Card of the catalogue: name, one line, tags, method of access. */
export const renderProductCard = ({ product, tags, hasAccess }: ProductCard): Markup =>
  html`<li class="card product">${renderProductImage(product)}<h2><a href="${toProductUrl(product)}">
${displayName(product)}</a></h2><p class="line">${product.Description || 'No description yet.'}</p>
${renderBadges(product)}
${tags.length > 0 ? html`<p class="tags">${tags.map(tag => html`<span>#${tag}</span> `)}</p>` : ''}
${hasAccess ? html`<p class="access">You have access</p>` : ''}</li>`;
