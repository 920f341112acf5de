import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { listPageTemplates } from '../themes/active-theme.ts';
import { isBuiltInPath } from './built-in-paths.ts';
import { PageChange, PageWrite, PortalPage, toPageView } from './schema.ts';
import { checkTemplate } from './templates.ts';

const declared = { surface: 'portal', noun: 'pages', permission: 'secret' } as const;
const params = z.object({ page_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'clock'>;

/** A page at a path of the portal itself would never be shown. */
function refuseBuiltInPath(path: string): void {
  if (isBuiltInPath(path)) throw problem.page_path_built_in({ detail: { path } });
}

export const listPages = operation({
  ...declared,
  name: 'listPages',
  method: 'GET',
  path: '/portal-api/pages',
  about: 'Lists the pages of the portal, newest first.',
  query: portalPageQuery,
  returns: z.array(PortalPage),
  async handle({ query }, { portal }: Services) {
    return (await portal.pages.page(query)).map(toPageView);
  },
});

export const createPage = operation({
  ...declared,
  name: 'createPage',
  method: 'POST',
  path: '/portal-api/pages',
  about: 'Creates a page with a template of the active theme; a draft by default.',
  body: PageWrite,
  example: { Title: 'Support', Path: '/support', Template: 'page', Status: 'Published' },
  returns: PortalPage,
  problems: [problem.page_exists, problem.page_path_built_in],
  async handle({ body, audit }, { portal, clock }: Services) {
    refuseBuiltInPath(body.Path);
    checkTemplate(body.Template, await listPageTemplates({ portal }));
    const now = clock.now();
    const created = await portal.pages.insert({
      CID: body.CID ?? createSortableId(now),
      Title: body.Title,
      Path: body.Path,
      Template: body.Template,
      Status: body.Status ?? 'Draft',
      AllowFormSubmission: body.AllowFormSubmission ?? false,
      PageTypeID: body.PageTypeID ?? 0,
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(created.ID));
    return toPageView(created);
  },
});

export const getPage = operation({
  ...declared,
  name: 'getPage',
  method: 'GET',
  path: '/portal-api/pages/{page_id}',
  about: 'Returns a page.',
  params,
  returns: PortalPage,
  problems: [problem.not_found],
  async handle({ params: { page_id } }, { portal }: Services) {
    return toPageView(present(await portal.pages.get(page_id), 'Page'));
  },
});

export const updatePage = operation({
  ...declared,
  name: 'updatePage',
  method: 'PUT',
  path: '/portal-api/pages/{page_id}',
  about: 'Updates a page; omitted members do not change.',
  params,
  body: PageChange,
  example: { Title: 'Help', Path: '/help', Status: 'Published' },
  returns: PortalPage,
  problems: [problem.unknown, problem.page_exists, problem.page_path_built_in],
  async handle({ params: { page_id }, body, audit }, { portal, clock }: Services) {
    const { ID, Path } = present(await portal.pages.get(page_id), 'Page', 'unknown');
    audit(String(ID));
    if (body.Path !== undefined && body.Path !== Path) refuseBuiltInPath(body.Path);
    if (body.Template !== undefined) checkTemplate(body.Template, await listPageTemplates({ portal }));
    const changed = await portal.pages.change(ID, it => ({
      ...it,
      Title: body.Title ?? it.Title,
      Path: body.Path ?? it.Path,
      Template: body.Template ?? it.Template,
      Status: body.Status ?? it.Status,
      AllowFormSubmission: body.AllowFormSubmission ?? it.AllowFormSubmission,
      PageTypeID: body.PageTypeID ?? it.PageTypeID,
      UpdatedAt: clock.now(),
    }));
    return toPageView(present(changed, 'Page', 'unknown'));
  },
});

export const deletePage = operation({
  ...declared,
  name: 'deletePage',
  method: 'DELETE',
  path: '/portal-api/pages/{page_id}',
  about: 'Deletes a page with its content blocks.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { page_id }, audit }, { portal }: Services) {
    const { ID } = present(await portal.pages.get(page_id), 'Page');
    audit(String(ID));
    await portal.pages.remove(ID);
    return okStatus;
  },
});

export const pageOperations = [listPages, createPage, getPage, updatePage, deletePage];
