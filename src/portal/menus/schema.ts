import { z } from 'zod';
import { readOnlyMembers } from '#base/members.ts';
import { chosenCid, formatOptionalTime, nonEmptyText, optionalMember, textUpTo } from '../shapes.ts';

/** Menu of the site: links in two levels. The site shows `Primary` in its header and `Footer` in its footer. */
export const primaryMenuPath = 'Primary';
export const footerMenuPath = 'Footer';

export const menuBounds = { maxMenus: 20, maxItems: 20, maxChildren: 20, maxTargetChars: 2000 } as const;

const audiences = ['all', 'signed-in', 'admins'] as const;
const linkSchemes = new Set(['http:', 'https:', 'mailto:']);

/** A path of the site without characters that browsers take for another host, or an address of a harmless scheme. */
export function isSafeLink(link: string): boolean {
  if (/^\/(?!\/)[^\s\\]*$/.test(link))
    return !link
      .split(/[?#]/, 1)[0]!
      .split('/')
      .some(it => it === '.' || it === '..');
  if (/[\s\\]/.test(link) || !URL.canParse(link)) return false;
  const { protocol, username, password } = new URL(link);
  return linkSchemes.has(protocol) && username === '' && password === '';
}

const link = textUpTo(menuBounds.maxTargetChars);
const safeLink = link.refine(isSafeLink, 'must be a path such as /blog, or an http, https or mailto address');
const item = {
  Title: nonEmptyText(100),
  VisibleTo: optionalMember(z.enum(audiences)).describe('Who sees the link; all by default'),
};
const itemReadOnly = ['State'];
const ChildWrite = readOnlyMembers(z.object({ ...item, Path: safeLink }), itemReadOnly);
const ItemWrite = readOnlyMembers(
  z.object({
    ...item,
    Path: optionalMember(z.union([z.literal(''), safeLink])).describe('Empty for a heading with children'),
    Children: optionalMember(z.array(ChildWrite).max(menuBounds.maxChildren)),
  }),
  itemReadOnly,
).refine(({ Path, Children }) => Path || Children?.length, {
  path: ['Path'],
  message: 'is required without Children',
});

const writable = z.object({
  CID: optionalMember(chosenCid),
  Name: nonEmptyText(),
  Path: nonEmptyText(64)
    .regex(/^[\w-]+$/, 'must be letters, digits, "_" and "-"')
    .describe('Name by which the site and templates find the menu: Primary, Footer'),
  Items: optionalMember(z.array(ItemWrite).max(menuBounds.maxItems)),
});
const readOnly = ['ID', 'CreatedAt', 'UpdatedAt'];
export const MenuWrite = readOnlyMembers(writable, readOnly);
export const MenuChange = readOnlyMembers(writable.omit({ CID: true }).partial({ Name: true, Path: true }), [
  ...readOnly,
  'CID',
]);

export interface StoredMenuLink {
  readonly Title: string;
  /** Path or address; empty for a heading. */
  readonly Path: string;
  readonly VisibleTo: (typeof audiences)[number];
}

export interface StoredMenuItem extends StoredMenuLink {
  readonly Children: readonly StoredMenuLink[];
}

export interface StoredMenu {
  ID: number;
  CID: string;
  Name: string;
  Path: string;
  Items: readonly StoredMenuItem[];
  CreatedAt: number;
  UpdatedAt: number;
}

type WrittenLink = z.output<typeof ChildWrite> | z.output<typeof ItemWrite>;

const toStoredLink = ({ Title, Path, VisibleTo }: WrittenLink): StoredMenuLink => ({
  Title,
  Path: Path ?? '',
  VisibleTo: VisibleTo ?? 'all',
});

export const toStoredItems = (items: readonly z.output<typeof ItemWrite>[]): StoredMenuItem[] =>
  items.map(it => ({ ...toStoredLink(it), Children: (it.Children ?? []).map(toStoredLink) }));

const linkStates = ['shown', 'hidden', 'missing'] as const;
/** `hidden`: a draft, or a product that no public catalogue offers; `missing`: nothing has this path. */
export type LinkState = (typeof linkStates)[number];

const MenuLink = z.object({
  Title: z.string(),
  Path: z.string(),
  VisibleTo: z.enum(audiences),
  State: z.enum(linkStates).describe('What visitors see of it: hidden for a draft or an unoffered product'),
});

export const PortalMenu = z.object({
  ID: z.int(),
  CID: z.string(),
  Name: z.string(),
  Path: z.string(),
  Items: z.array(MenuLink.extend({ Children: z.array(MenuLink) })),
  CreatedAt: z.string(),
  UpdatedAt: z.string(),
});

export function toMenuView(menu: StoredMenu, stateOf: (path: string) => LinkState): z.output<typeof PortalMenu> {
  const toLink = ({ Title, Path, VisibleTo }: StoredMenuLink) => ({ Title, Path, VisibleTo, State: stateOf(Path) });
  return {
    ...menu,
    Items: menu.Items.map(it => ({ ...toLink(it), Children: it.Children.map(toLink) })),
    CreatedAt: formatOptionalTime(menu.CreatedAt),
    UpdatedAt: formatOptionalTime(menu.UpdatedAt),
  };
}
