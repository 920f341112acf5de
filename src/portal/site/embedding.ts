import type { Settings } from '#base/settings.ts';
import { type Markup, trustMarkup } from './markup.ts';
import type { SitePage } from './page.ts';

/** Sign-in, account and admin pages, and interfaces: no page of another origin frames them (clickjacking). */
const unframedPaths = /^\/(?:auth|tib|sso|admin|portal-api|portal\/private)(?:\/|$)/;

/** Tests whether a page may be embedded: pages of administrators have no route. */
export const isEmbeddable = (path: string, page: SitePage | undefined): boolean =>
  !unframedPaths.test(path) && (page === undefined || page.access === 'all');

/** Origins that may frame the page of a request; undefined without `embed=1`, and where no page is framed. */
export function findEmbedders(
  url: string,
  path: string,
  page: SitePage | undefined,
  settings: Settings,
): readonly string[] | undefined {
  const origins = settings['portal.embed_origins'];
  const wanted = new URLSearchParams(url.split('?')[1] ?? '').getAll('embed');
  return wanted.length === 1 && wanted[0] === '1' && origins.length > 0 && isEmbeddable(path, page)
    ? origins
    : undefined;
}

/** The same address, embedded. */
function toEmbeddedUrl(url: string): string {
  const [rest = '', ...fragment] = url.split('#');
  return [`${rest}${rest.includes('?') ? '&' : '?'}embed=1`, ...fragment].join('#');
}

const ownPath = (url: string) => (/^\/(?!\/)/.test(url) ? url.split(/[?#]/, 1)[0]! : undefined);
const readAttribute = (tag: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
const openInTab = (tag: string) => (/\starget=/.test(tag) ? tag : `${tag.slice(0, -1)} target="_blank">`);

/**
 * Content of an embedded page: its links and filters lead to embedded pages, and those to any other page, which a frame
 * would not show, to a new tab.
 */
export function embedLinks(main: Markup, canEmbed: (path: string) => boolean): Markup {
  const text = main.toString().replaceAll(/<(a|form)\b[^>]*>/g, (tag, name: string) => {
    const url = readAttribute(tag, name === 'a' ? 'href' : 'action') ?? '#';
    if (url.startsWith('#')) return tag;
    const path = ownPath(url);
    if (path === undefined || !canEmbed(path)) return openInTab(tag);
    if (name === 'a')
      return tag.replace(`href="${url}"`, () => `href="${toEmbeddedUrl(url).replace('&embed', '&amp;embed')}"`);
    return /\smethod="get"/.test(tag) ? `${tag}<input type="hidden" name="embed" value="1">` : openInTab(tag);
  });
  return trustMarkup(text);
}

/** Target of a redirect of an embedded page. */
export function embedRedirect(url: string, canEmbed: (path: string) => boolean): string {
  const path = ownPath(url);
  return path !== undefined && canEmbed(path) ? toEmbeddedUrl(url) : url;
}
