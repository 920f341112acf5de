import { percentDecodeLoosely } from '#base/percent-decode.ts';
import { isBuiltInPath } from '../pages/built-in-paths.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { PostStore } from '../posts/store.ts';
import { createOfferStore } from '../visibility/offer-store.ts';
import { canSeeContent, type Visitor } from '../visibility/rules.ts';
import { findVisibleCatalogues } from '../visibility/visibility.ts';
import type { LinkState } from './schema.ts';

export type LinkServices = Pick<PortalServices, 'portal' | 'records'> & { posts: PostStore };

const productPattern = /^\/portal\/catalogue-products\/([^/]+)/;
const postPattern = /^\/blog\/\d{4}\/\d\d\/\d\d\/([^/]+)$/;

/** Path of the site behind a link, decoded and without query and fragment; undefined for other addresses. */
function readSitePath(link: string): string | undefined {
  if (!link.startsWith('/')) return undefined;
  const [path] = link.split(/[?#]/, 1) as [string];
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  return percentDecodeLoosely(trimmed);
}

const captureAll = (paths: readonly string[], pattern: RegExp) => paths.flatMap(path => pattern.exec(path)?.[1] ?? []);

/**
 * States of links for a visitor, with one query for each kind of target. Pages, products and posts are looked up; other
 * paths of the site and other addresses are shown.
 */
export async function readLinkStates(
  links: readonly string[],
  visitor: Visitor,
  services: LinkServices,
): Promise<(link: string) => LinkState> {
  const paths = [...new Set(links.flatMap(link => readSitePath(link) ?? []))];
  const stateOfPage = await readPageStates(paths, visitor, services);
  const isOffered = await readOffered(captureAll(paths, productPattern), visitor, services);
  const publishedDays = await services.posts.readPublishedDays(captureAll(paths, postPattern));
  return link => {
    const path = readSitePath(link);
    if (path === undefined || path === '/') return 'shown';
    const [, product] = productPattern.exec(path) ?? [];
    if (product !== undefined) return isOffered(product) ? 'shown' : 'hidden';
    const [, post] = postPattern.exec(path) ?? [];
    if (post !== undefined) return path.startsWith(`/blog/${publishedDays.get(post)}/`) ? 'shown' : 'hidden';
    return isBuiltInPath(path) ? 'shown' : stateOfPage(path);
  };
}

async function readPageStates(paths: readonly string[], visitor: Visitor, { portal }: LinkServices) {
  const own = paths.filter(path => path !== '/' && !isBuiltInPath(path));
  const pages = new Map((await portal.pages.byPaths(own)).map(page => [page.Path, page]));
  return (path: string): LinkState => {
    const page = pages.get(path);
    if (!page) return 'missing';
    return canSeeContent(visitor, page) ? 'shown' : 'hidden';
  };
}

async function readOffered(products: readonly string[], visitor: Visitor, services: LinkServices) {
  if (products.length === 0) return () => false;
  const catalogueIds = (await findVisibleCatalogues(visitor, services)).map(({ ID }) => ID);
  const offered = new Set(await createOfferStore(services.records).filterPaths(catalogueIds, products));
  return (product: string) => offered.has(product);
}
