import { listSearchWords } from '#storage/search-words.ts';
import { partnersOf } from '../../join-table-store.ts';
import type { StoredProduct } from '../../products/schema.ts';
import type { OfferQuery } from '../../visibility/offer-store.ts';
import { findVisibleCatalogues } from '../../visibility/visibility.ts';
import { findOwnProductIds } from '../apps/own-requests.ts';
import { formatAuth } from '../auth-words.ts';
import { renderFilterSelect } from '../form.ts';
import { html, type Markup } from '../markup.ts';
import { createOffer } from '../offer.ts';
import {
  cataloguePath,
  type SiteDocument,
  type SiteFields,
  type SitePage,
  type SiteRequest,
  type SiteServices,
} from '../page.ts';
import { type ProductCard, renderProductCard, renderProductRow } from '../product-card.ts';
import { formatCount, listKinds } from '../words.ts';
import { maxSearchWords } from './search-entries.ts';

const pageSize = 24;
/** Products that a filter by kind or credential compares; those beyond are not found. */
const maxCandidates = 2000;
/** Counting takes time: a larger number is shown as "more than" this. */
const maxCounted = 1000;
/** Keeps offsets in the range of the database. */
const maxPage = 10_000;
const maxTags = 40;

export interface ProductFilter {
  readonly text: string;
  readonly catalogue: string;
  readonly tag: string;
  readonly kind: string;
  readonly auth: string;
  /** Only products that the visitor has access to. */
  readonly isOwn?: boolean;
}

interface CardOptions {
  readonly words: readonly string[];
  /** Products that the visitor has access to. */
  readonly own: ReadonlySet<number>;
}

async function loadCards(
  products: readonly StoredProduct[],
  { words, own }: CardOptions,
  { portal }: SiteServices,
): Promise<ProductCard[]> {
  const byProduct = await portal.productTags.leftOf(products.map(({ ID }) => ID));
  const tags = await portal.tags.byIds([...byProduct.values()].flat());
  return products.map(product => ({
    product,
    words,
    hasAccess: own.has(product.ID),
    tags: partnersOf(byProduct, product.ID).flatMap(id => tags.get(id)?.Name ?? []),
  }));
}

/** Products of a visitor that match a filter, a page of them. */
export async function findProducts(
  filter: ProductFilter,
  { visitor }: Pick<SiteRequest, 'visitor'>,
  services: SiteServices,
  { page, size = pageSize }: { page: number; size?: number },
) {
  const catalogues = await findVisibleCatalogues(visitor.rights, services);
  const chosen = filter.catalogue ? catalogues.filter(it => it.NameWithSlug === filter.catalogue) : catalogues;
  const words = listSearchWords(filter.text).slice(0, maxSearchWords);
  if (filter.text && words.length === 0) return { cards: [], total: 0, hasMore: false, catalogues };
  const query = { catalogueIds: chosen.map(({ ID }) => ID), tag: filter.tag || undefined, words };
  const offset = (page - 1) * size;
  const own = await findOwnProductIds(visitor, services);
  if (filter.kind || filter.auth || filter.isOwn) {
    const matching = await findMatching(filter, query, services);
    const found = filter.isOwn ? matching.filter(({ ID }) => own.has(ID)) : matching;
    const cards = await loadCards(found.slice(offset, offset + size), { words, own }, services);
    return { cards, total: found.length, hasMore: found.length > offset + size, catalogues };
  }
  const offer = createOffer(services);
  const listed = await offer.listProducts({ ...query, limit: size + 1, offset });
  const total = await offer.countProducts({ ...query, limit: maxCounted + 1 });
  const cards = await loadCards(listed.slice(0, size), { words, own }, services);
  return { cards, total, hasMore: listed.length > size, catalogues };
}

/** Products whose kind or credential the filter names: no column has them, so that a bounded number is compared. */
async function findMatching(
  { kind, auth }: ProductFilter,
  query: Omit<OfferQuery, 'limit'>,
  services: SiteServices,
): Promise<StoredProduct[]> {
  const candidates = await createOffer(services).listProducts({ ...query, limit: maxCandidates });
  return candidates.filter(
    product => (!kind || listKinds(product).includes(kind)) && (!auth || formatAuth(product) === auth),
  );
}

/** Page number of a query, from 1. */
export const readPage = (query: SiteFields): number =>
  Math.min(maxPage, Math.max(1, Number.parseInt(query('page'), 10) || 1));

const offeredKinds = ['REST', 'GraphQL', 'Events', 'MCP'];
const offeredAuth = ['API key', 'OAuth 2.0', 'JSON Web Token', 'No credential'];
const filterNames = ['q', 'catalogue', 'tag', 'type', 'auth', 'access'] as const;

async function respond(request: SiteRequest, services: SiteServices): Promise<SiteDocument> {
  const { query } = request;
  const page = readPage(query);
  const filter = {
    text: query('q').trim().slice(0, 100),
    catalogue: query('catalogue'),
    tag: query('tag'),
    kind: query('type'),
    auth: query('auth'),
    isOwn: query('access') === 'own',
  };
  const isList = query('view') === 'list';
  const { cards, total, hasMore, catalogues } = await findProducts(filter, request, services, { page });
  const tags = await createOffer(services).listTags(
    catalogues.map(({ ID }) => ID),
    maxTags,
  );
  const toUrl = (changed: Partial<Record<string, string>>) => {
    const names = [...filterNames, 'view'];
    const values = { ...Object.fromEntries(names.map(name => [name, query(name)])), ...changed };
    const text = new URLSearchParams(Object.entries(values).filter((it): it is [string, string] => Boolean(it[1])));
    return `${cataloguePath}${text.size > 0 ? `?${text}` : ''}`;
  };
  const choices = catalogues.length > 1 ? catalogues.map(it => [it.NameWithSlug, it.Name] as const) : [];
  const toChoice = (value: string) => [value, value] as const;
  const selects = [
    renderFilter('catalogue', 'Catalogue', query('catalogue'), choices),
    renderFilter('tag', 'Tag', query('tag'), tags.map(toChoice)),
    renderFilter('type', 'Kind', query('type'), offeredKinds.map(toChoice)),
    renderFilter('auth', 'Access', query('auth'), offeredAuth.map(toChoice)),
  ];
  const isFiltered = filterNames.some(name => query(name) !== '');
  return {
    title: 'Products',
    section: 'catalogue',
    isIndexable: !isFiltered,
    description: 'APIs that you can use, with their documentation and plans.',
    main: html`<div class="head"><h1>Products</h1><p class="dim">${describeTotal(total, isFiltered)}</p></div>
${renderViews(isList, view => toUrl({ view, page: query('page') }))}
<form class="filters" method="get" action="${cataloguePath}">${
      isList ? html`<input type="hidden" name="view" value="list">` : ''
    }<label class="grow">Search
<input type="search" name="q" value="${filter.text}" maxlength="100"></label>
${selects}
${request.visitor.user ? renderFilter('access', 'My access', query('access'), [['own', 'I have access']]) : ''}
<button class="secondary">Filter</button>
${isFiltered ? html`<a class="button quiet" href="${cataloguePath}">Clear</a>` : ''}</form>
${cards.length > 0 ? renderCards(cards, isList) : renderEmpty(isFiltered)}
${renderPageLinks(page, hasMore, number => toUrl({ page: String(number) }), formatPages(total))}`,
  };
}

/** Links between the two views of the list, with the filters and the page. */
const renderViews = (isList: boolean, toUrl: (view: string) => string) =>
  html`<nav class="views" aria-label="View">
<a href="${toUrl('')}"${isList ? '' : html` aria-current="true"`}>Cards</a>
<a href="${toUrl('list')}"${isList ? html` aria-current="true"` : ''}>List</a></nav>`;

const renderCards = (cards: readonly ProductCard[], isList: boolean) =>
  isList
    ? html`<ul class="rows products">${cards.map(renderProductRow)}</ul>`
    : html`<ul class="cards">${cards.map(renderProductCard)}</ul>`;

const formatPages = (total: number) => (total > maxCounted ? '' : ` of ${Math.ceil(total / pageSize)}`);

const describeTotal = (total: number, isFiltered: boolean) =>
  `${total > maxCounted ? `More than ${formatCount(maxCounted)}` : formatCount(total)} ${
    total === 1 ? 'product' : 'products'
  }${isFiltered ? ' match' : ''}`;

/** Filter of the list; absent without options. */
const renderFilter = (name: string, label: string, value: string, options: readonly (readonly [string, string])[]) =>
  options.length === 0 ? '' : renderFilterSelect(label, name, value, [['', 'All'], ...options]);

function renderEmpty(isFiltered: boolean): Markup {
  if (isFiltered)
    return html`<div class="notice"><p>No product matches.</p>
<p><a href="${cataloguePath}">Clear the filters</a></p></div>`;
  return html`<div class="notice"><p>There are no products yet.</p></div>`;
}

export const renderPaging = (page: number, pages: number, toUrl: (page: number) => string): Markup | '' =>
  pages < 2 ? '' : renderPageLinks(page, page < pages, toUrl, ` of ${pages}`);

/** Links of a list whose length is not known. */
export function renderPageLinks(
  page: number,
  hasNext: boolean,
  toUrl: (page: number) => string,
  total = '',
): Markup | '' {
  if (page === 1 && !hasNext) return '';
  return html`<nav class="paging" aria-label="Pages">
${page > 1 ? html`<a href="${toUrl(page - 1)}" rel="prev">Previous</a>` : ''}
<span>Page ${page}${total}</span>${hasNext ? html`<a href="${toUrl(page + 1)}" rel="next">Next</a>` : ''}</nav>`;
}

export const cataloguePages: readonly SitePage[] = [{ method: 'GET', path: cataloguePath, access: 'all', respond }];
