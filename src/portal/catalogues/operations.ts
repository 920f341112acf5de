import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { okResponse, okStatus, portalId, portalSearchQuery, type Reference, toSlug } from '../shapes.ts';
import { addAudience, nameAudiences } from './audiences.ts';
import {
  Catalogue,
  CatalogueChange,
  CatalogueRow,
  CatalogueWrite,
  type StoredCatalogue,
  toCatalogueRow,
  toCatalogueView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'catalogues', permission: 'secret' } as const;
const params = z.object({ catalogue_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

async function loadCatalogueView(catalogue: StoredCatalogue, services: Services) {
  const { catalogues, plans, products } = services.portal;
  const { ID } = catalogue;
  const plansById = await plans.byIds(partnersOf(await catalogues.plans.rightOf([ID]), ID));
  const productsById = await products.byIds(partnersOf(await catalogues.products.rightOf([ID]), ID));
  const contents = [[...plansById.values()], [...productsById.values()]] as const;
  return toCatalogueView(catalogue, ...contents, await nameAudiences(catalogue, services));
}

type ContentReferences = { Plans?: Reference[] | null | undefined; Products?: Reference[] | null | undefined };

/** Resolves the plans and products of a body before any write; undefined when not sent. */
async function resolveContents({ Plans, Products }: ContentReferences, { portal: { plans, products } }: Services) {
  const ids = (found: readonly { ID: number }[]) => found.map(({ ID }) => ID);
  return {
    plans: Plans === undefined ? undefined : ids(await plans.resolveReferences(Plans ?? [], 'Plans', 'plan')),
    products:
      Products === undefined ? undefined : ids(await products.resolveReferences(Products ?? [], 'Products', 'product')),
  };
}

async function setContents(
  ID: number,
  contents: Awaited<ReturnType<typeof resolveContents>>,
  { portal: { catalogues } }: Services,
) {
  if (contents.plans) await catalogues.plans.setRightOf(ID, contents.plans);
  if (contents.products) await catalogues.products.setRightOf(ID, contents.products);
}

export const listCatalogues = operation({
  ...declared,
  name: 'listCatalogues',
  method: 'GET',
  path: '/portal-api/catalogues',
  about: 'Lists the catalogues, newest first.',
  query: portalSearchQuery,
  returns: z.array(CatalogueRow),
  async handle({ query }, { portal }: Services) {
    return (await portal.catalogues.searchPage(query)).map(toCatalogueRow);
  },
});

export const createCatalogue = operation({
  ...declared,
  name: 'createCatalogue',
  method: 'POST',
  path: '/portal-api/catalogues',
  about: 'Creates a catalogue of products and plans; private by default.',
  body: CatalogueWrite,
  returns: Catalogue,
  problems: [problem.catalogue_exists, problem.audience_exists],
  async handle({ body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const contents = await resolveContents(body, services);
    const now = clock.now();
    const created = await records.write(async () => {
      const catalogue = await portal.catalogues.insert({
        CID: body.CID ?? createSortableId(now),
        Name: body.Name,
        NameWithSlug: body.NameWithSlug ?? (toSlug(body.Name) || createSortableId(now)),
        VisibilityStatus: body.VisibilityStatus ?? 'Private',
        CreatedAt: now,
        UpdatedAt: now,
      });
      await setContents(catalogue.ID, contents, services);
      for (const [place, audience] of (body.OrgCatalogues ?? []).entries())
        await addAudience(catalogue.ID, audience, services, `OrgCatalogues[${place}].`);
      return catalogue;
    });
    audit(String(created.ID));
    return loadCatalogueView(created, services);
  },
});

export const getCatalogue = operation({
  ...declared,
  name: 'getCatalogue',
  method: 'GET',
  path: '/portal-api/catalogues/{catalogue_id}',
  about: 'Returns a catalogue with the names of its plans and products.',
  params,
  returns: Catalogue,
  problems: [problem.not_found],
  async handle({ params: { catalogue_id } }, services: Services) {
    return loadCatalogueView(present(await services.portal.catalogues.get(catalogue_id), 'Catalogue'), services);
  },
});

export const updateCatalogue = operation({
  ...declared,
  name: 'updateCatalogue',
  method: 'PUT',
  path: '/portal-api/catalogues/{catalogue_id}',
  about: 'Updates a catalogue. Lists replace the stored ones; omitted members do not change.',
  params,
  body: CatalogueChange,
  returns: Catalogue,
  problems: [problem.unknown, problem.catalogue_exists],
  async handle({ params: { catalogue_id }, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const { ID } = present(await portal.catalogues.get(catalogue_id), 'Catalogue', 'unknown');
    audit(String(ID));
    const contents = await resolveContents(body, services);
    const changed = await records.write(async () => {
      const catalogue = await portal.catalogues.change(ID, it => ({
        ...it,
        Name: body.Name ?? it.Name,
        NameWithSlug: body.NameWithSlug ?? it.NameWithSlug,
        VisibilityStatus: body.VisibilityStatus ?? it.VisibilityStatus,
        UpdatedAt: clock.now(),
      }));
      if (catalogue) await setContents(ID, contents, services);
      return catalogue;
    });
    return loadCatalogueView(present(changed, 'Catalogue', 'unknown'), services);
  },
});

export const deleteCatalogue = operation({
  ...declared,
  name: 'deleteCatalogue',
  method: 'DELETE',
  path: '/portal-api/catalogues/{catalogue_id}',
  about: 'Deletes a catalogue and its audiences; its products and plans are not deleted.',
  params,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { catalogue_id }, audit }, { portal }: Services) {
    const { ID } = present(await portal.catalogues.get(catalogue_id), 'Catalogue');
    audit(String(ID));
    if (!(await portal.catalogues.remove(ID))) throw problem.not_found({ detail: { what: 'Catalogue' } });
    return okStatus;
  },
});

export const catalogueOperations = [listCatalogues, createCatalogue, getCatalogue, updateCatalogue, deleteCatalogue];
