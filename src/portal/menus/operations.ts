import { z } from 'zod';
import type { Clock } from '#base/clock.ts';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { anonymousVisitor } from '../visibility/rules.ts';
import { type LinkServices, readLinkStates } from './link-targets.ts';
import { MenuChange, MenuWrite, PortalMenu, type StoredMenu, toMenuView, toStoredItems } from './schema.ts';

type Services = LinkServices & { clock: Clock };

const declared = { surface: 'portal', noun: 'menus', permission: 'secret' } as const;
const params = z.object({ menu_id: portalId });

/** Menus with the states of their links for visitors who are not signed in. */
async function toMenuViews(menus: readonly StoredMenu[], services: LinkServices) {
  const links = menus.flatMap(({ Items }) => Items.flatMap(it => [it.Path, ...it.Children.map(({ Path }) => Path)]));
  const stateOf = await readLinkStates(links, anonymousVisitor, services);
  return menus.map(menu => toMenuView(menu, stateOf));
}
const loadMenuView = async (menu: StoredMenu, services: LinkServices) => (await toMenuViews([menu], services))[0]!;

export const listMenus = operation({
  ...declared,
  name: 'listMenus',
  method: 'GET',
  path: '/portal-api/menus',
  about: 'Lists the menus of the site, newest first.',
  query: portalPageQuery,
  returns: z.array(PortalMenu),
  async handle({ query }, services: Services) {
    return toMenuViews(await services.portal.menus.page(query), services);
  },
});

export const createMenu = operation({
  ...declared,
  name: 'createMenu',
  method: 'POST',
  path: '/portal-api/menus',
  about: 'Creates a menu; the site shows the one with the path Primary in its header, Footer in its footer.',
  body: MenuWrite,
  example: { Name: 'Header', Path: 'Primary', Items: [{ Title: 'Products', Path: '/portal/catalogue-products' }] },
  returns: PortalMenu,
  status: 201,
  problems: [problem.menu_exists, problem.too_many_menus],
  async handle({ body, audit }, services: Services) {
    const now = services.clock.now();
    const created = await services.portal.menus.add({
      CID: body.CID ?? createSortableId(now),
      Name: body.Name,
      Path: body.Path,
      Items: toStoredItems(body.Items ?? []),
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(created.ID));
    return loadMenuView(created, services);
  },
});

export const getMenu = operation({
  ...declared,
  name: 'getMenu',
  method: 'GET',
  path: '/portal-api/menus/{menu_id}',
  about: 'Returns a menu with the states of its links.',
  params,
  returns: PortalMenu,
  problems: [problem.not_found],
  async handle({ params: { menu_id } }, services: Services) {
    return loadMenuView(present(await services.portal.menus.get(menu_id), 'Menu'), services);
  },
});

export const updateMenu = operation({
  ...declared,
  name: 'updateMenu',
  method: 'PUT',
  path: '/portal-api/menus/{menu_id}',
  about: 'Updates a menu; omitted members do not change, and Items replaces all items.',
  params,
  body: MenuChange,
  example: { Items: [{ Title: 'Blog', Path: '/blog' }] },
  returns: PortalMenu,
  problems: [problem.unknown, problem.menu_exists],
  async handle({ params: { menu_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID } = present(await portal.menus.get(menu_id), 'Menu', 'unknown');
    audit(String(ID));
    const changed = await portal.menus.change(ID, it => ({
      ...it,
      Name: body.Name ?? it.Name,
      Path: body.Path ?? it.Path,
      Items: body.Items ? toStoredItems(body.Items) : it.Items,
      UpdatedAt: clock.now(),
    }));
    return loadMenuView(present(changed, 'Menu', 'unknown'), services);
  },
});

export const deleteMenu = operation({
  ...declared,
  name: 'deleteMenu',
  method: 'DELETE',
  path: '/portal-api/menus/{menu_id}',
  about: 'Deletes a menu. Without Primary and Footer the site links its own pages and those that are published.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { menu_id }, audit }, { portal }: Services) {
    const { ID } = present(await portal.menus.get(menu_id), 'Menu');
    audit(String(ID));
    await portal.menus.remove(ID);
    return okStatus;
  },
});

export const menuOperations = [listMenus, createMenu, getMenu, updateMenu, deleteMenu];
