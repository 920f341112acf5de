import type { StoredProduct } from '../products/schema.ts';
import { isDocumentationOnly } from '../products/schema.ts';
import { formatAuth } from './auth-words.ts';
import { highlightWords } from './highlight.ts';
import { html, type Markup } from './markup.ts';
import { toProductUrl } from './page.ts';
import { displayName, listKinds } from './words.ts';

export interface ProductCard {
  readonly product: StoredProduct;
  readonly tags: readonly string[];
  readonly hasAccess?: boolean;
  /** Searched words, in lower case. */
  readonly words?: readonly string[];
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

const renderTitle = ({ product, words = [] }: ProductCard) =>
  html`<a href="${toProductUrl(product)}">
${highlightWords(displayName(product), words)}</a>`;
const renderLine = ({ product, words = [] }: ProductCard) =>
  html`<p class="line">${highlightWords(product.Description || 'No description yet.', words)}</p>`;
const renderTags = ({ tags, words = [] }: ProductCard) =>
  tags.length > 0
    ? html`<p class="tags">${tags.map(tag => html`<span>#${highlightWords(tag, words)}</span> `)}</p>`
    : '';
const renderAccess = ({ hasAccess }: ProductCard) => (hasAccess ? html`<p class="access">You have access</p>` : '');

/** Card of the catalogue: name, one line, tags, method of access. */
export const renderProductCard = (card: ProductCard): Markup =>
  html`<li class="card product">${renderProductImage(card.product)}<h2>${renderTitle(card)}</h2>${renderLine(card)}
${renderBadges(card.product)}
${renderTags(card)}
${renderAccess(card)}</li>`;

/** The same as a row of a list. */
export const renderProductRow = (card: ProductCard): Markup =>
  html`<li><div><h2>${renderTitle(card)}</h2>${renderLine(card)}${renderTags(card)}</div>
<div>${renderBadges(card.product)}${renderAccess(card)}</div></li>`;
