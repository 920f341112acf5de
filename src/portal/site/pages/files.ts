import { escapeMarkup } from '#base/escape-markup.ts';
import { readPortalUrl } from '../../portal-url.ts';
import { getPostDate, type StoredPost } from '../../posts/schema.ts';
import { anonymousVisitor } from '../../visibility/rules.ts';
import { findVisibleCatalogues } from '../../visibility/visibility.ts';
import { isSiteIndexed } from '../closed-site.ts';
import { createOffer } from '../offer.ts';
import { cataloguePath, type SiteFile, type SitePage, type SiteServices, toProductUrl } from '../page.ts';
import { displayName } from '../words.ts';
import { toPostUrl } from './blog.ts';
import { listContentPages } from './content-page.ts';

/** Files for crawlers, feed readers and agents: public content only, also for signed-in visitors. */

/** The sitemap protocol allows 50,000 addresses in all. */
const maxProductUrls = 40_000;
const maxContentUrls = 5000;
const maxPostUrls = 1000;
const maxAgentProducts = 5000;
const maxSummaryChars = 300;
const maxFeedPosts = 20;

const listPublicCatalogues = async (services: SiteServices) =>
  (await findVisibleCatalogues(anonymousVisitor, services)).map(({ ID }) => ID);

const robotsType = 'text/plain; charset=utf-8';

async function respondRobots(services: SiteServices): Promise<SiteFile> {
  const { settings } = services;
  const own = settings['portal.visibility'] === 'public' ? settings['portal.robots_txt'].trimEnd() : '';
  if (own !== '') return { file: `${own}\n`, type: robotsType };
  const lines = isSiteIndexed(services.settings)
    ? [
        'Disallow: /portal/private/',
        'Disallow: /auth/',
        'Disallow: /search',
        '',
        `Sitemap: ${readPortalUrl(services.settings)}/sitemap.xml`,
      ]
    : ['Disallow: /'];
  return { file: ['User-agent: *', ...lines, ''].join('\n'), type: robotsType };
}

async function respondSitemap(services: SiteServices): Promise<SiteFile | undefined> {
  if (!isSiteIndexed(services.settings)) return undefined;
  const base = readPortalUrl(services.settings);
  const offer = createOffer(services);
  const paths = [
    '/',
    cataloguePath,
    '/blog',
    ...(await listContentPages(maxContentUrls, services)).map(({ path }) => path),
    ...(await offer.listPaths(await listPublicCatalogues(services), maxProductUrls)).map(Path =>
      toProductUrl({ Path }),
    ),
  ];
  for await (const batch of services.posts.readPublished(maxPostUrls)) paths.push(...batch.map(toPostUrl));
  const urls = paths.map(path => `<url><loc>${escapeMarkup(base + path)}</loc></url>`);
  const file = `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${urls.join('')}</urlset>\n`;
  return { file, type: 'application/xml; charset=utf-8' };
}

/** A post that was written before its date is new on that day. */
const getUpdateTime = (post: StoredPost) => Math.max(post.UpdatedAt, getPostDate(post));

/** Atom feed of the blog (RFC 4287). */
async function respondFeed(services: SiteServices): Promise<SiteFile> {
  const base = readPortalUrl(services.settings);
  const posts = await services.posts.pagePublished({ page: 1, size: maxFeedPosts });
  const toTime = (ms: number) => new Date(ms).toISOString();
  const entries = posts.map(post => {
    const url = escapeMarkup(base + toPostUrl(post));
    return (
      `<entry><id>${url}</id><title>${escapeMarkup(post.Title)}</title><link href="${url}"/>` +
      `<published>${toTime(getPostDate(post))}</published><updated>${toTime(getUpdateTime(post))}</updated>` +
      `<summary>${escapeMarkup(post.Lede)}</summary></entry>`
    );
  });
  const name = escapeMarkup(services.settings['portal.name']);
  const updated = toTime(Math.max(0, ...posts.map(getUpdateTime)));
  const file = `<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${escapeMarkup(base)}/blog</id><title>${name}</title>
<author><name>${name}</name></author><link href="${escapeMarkup(base)}/feed.xml" rel="self"/>
<updated>${updated}</updated>${entries.join('')}</feed>\n`;
  return { file, type: 'application/atom+xml; charset=utf-8' };
}

/** Links in Markdown: what a name contains must not end it. */
const toLinkText = (text: string) => text.replaceAll(/[[\]\\]/g, it => `\\${it}`).replaceAll(/\s+/g, ' ');

async function respondAgents(services: SiteServices): Promise<SiteFile | undefined> {
  const { settings } = services;
  if (!settings['portal.llms_txt']) return undefined;
  const base = readPortalUrl(settings);
  const query = { catalogueIds: await listPublicCatalogues(services), limit: maxAgentProducts };
  const products: string[] = [];
  for await (const batch of createOffer(services).readProducts(query))
    for (const product of batch) {
      const summary = toLinkText(product.Description.slice(0, maxSummaryChars));
      products.push(`- [${toLinkText(displayName(product))}](${base}${toProductUrl(product)}): ${summary}`);
    }
  const text = [`# ${toLinkText(settings['portal.name'])}`, '', '## Products', '', ...products, ''];
  return { file: text.join('\n'), type: 'text/plain; charset=utf-8' };
}

const toPage = (path: string, respond: (services: SiteServices) => Promise<SiteFile | undefined>): SitePage => ({
  method: 'GET',
  path,
  access: 'all',
  respond: (_request, services) => respond(services),
});

export const filePages: readonly SitePage[] = [
  toPage('/robots.txt', respondRobots),
  toPage('/sitemap.xml', respondSitemap),
  toPage('/feed.xml', respondFeed),
  toPage('/llms.txt', respondAgents),
];
