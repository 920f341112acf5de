import { readLinkStates } from '../menus/link-targets.ts';
import type { StoredMenu, StoredMenuLink } from '../menus/schema.ts';
import { cataloguePath, type SiteLink, type SiteMenuItem, type SiteServices, type SiteVisitor } from './page.ts';
import { listNavigationPages } from './pages/content-page.ts';

/** Links of header and footer; undefined for a menu that the administrator has not made. */
export interface SiteMenus {
  readonly primary: readonly SiteMenuItem[] | undefined;
  readonly footer: readonly SiteMenuItem[] | undefined;
  /** Published pages, where a menu is missing. */
  readonly pages: readonly SiteLink[];
  /** Links of the header without their second level, for templates of themes. */
  readonly links: readonly SiteLink[];
}

export const noMenus: SiteMenus = { primary: undefined, footer: undefined, pages: [], links: [] };

/** Sections of the site itself, shown without a menu. */
export const siteSections: readonly SiteLink[] = [
  { title: 'Products', path: cataloguePath },
  { title: 'Blog', path: '/blog' },
];

/** Menus as a visitor sees them: without links to what is not visible, or not for the visitor. */
export async function readSiteMenus({ user, rights }: SiteVisitor, services: SiteServices): Promise<SiteMenus> {
  const { primary, footer } = await services.portal.menus.readShown();
  const stored = [primary, footer].filter(menu => menu !== undefined);
  const stateOf = await readLinkStates(stored.flatMap(listLinks), rights, services);
  const isShown = ({ VisibleTo, Path }: StoredMenuLink) =>
    isAudience(VisibleTo, user !== undefined, rights.kind === 'administrator') && stateOf(Path) === 'shown';
  const resolve = (menu: StoredMenu | undefined) => menu && resolveItems(menu, isShown);
  const items = { primary: resolve(primary), footer: resolve(footer) };
  const pages = items.primary && items.footer ? [] : await listNavigationPages(services);
  return { ...items, pages, links: items.primary?.filter(({ path }) => path !== '') ?? pages };
}

const isAudience = (audience: StoredMenuLink['VisibleTo'], isSignedIn: boolean, isAdmin: boolean) =>
  audience === 'all' || (audience === 'signed-in' ? isSignedIn : isAdmin);

const listLinks = ({ Items }: StoredMenu) => Items.flatMap(it => [it.Path, ...it.Children.map(({ Path }) => Path)]);

const toSiteLink = ({ Title, Path }: StoredMenuLink): SiteLink => ({ title: Title, path: Path });

/** An item whose own target is not visible is the heading of its children; without any it is left out. */
function resolveItems({ Items }: StoredMenu, isShown: (link: StoredMenuLink) => boolean): SiteMenuItem[] {
  return Items.flatMap(item => {
    const children = item.Children.filter(isShown).map(toSiteLink);
    if (item.Path !== '' && isShown(item)) return [{ ...toSiteLink(item), children }];
    const isHeading = children.length > 0 && isShown({ ...item, Path: '' });
    return isHeading ? [{ title: item.Title, path: '', children }] : [];
  });
}
