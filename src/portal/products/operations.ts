import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { followApiChange } from '../certificates/settle.ts';
import { partnersOf } from '../join-table-store.ts';
import { unlinkApis } from '../oauth-clients/scopes.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { callProvider } from '../providers/provider-client.ts';
import { okResponse, okStatus, portalId, portalSearchQuery } from '../shapes.ts';
import { applyProductChange, mergeProductChange, publishAtProvider, updateAtProvider } from './publishing.ts';
import { loadProductView, resolveRelations, saveRelations } from './relations.ts';
import { removeDroppedFiles, removeProduct } from './removal.ts';
import {
  defaultProduct,
  Product,
  ProductChange,
  ProductListRow,
  ProductWrite,
  type StoredProduct,
  toProductRow,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
type Services = Pick<PortalServices, 'portal' | 'controlPlane' | 'records' | 'clock'>;
const failures = [problem.provider_refused, problem.provider_unavailable, problem.product_exists] as const;

export const listProducts = operation({
  ...declared,
  name: 'listProducts',
  method: 'GET',
  path: '/portal-api/products',
  about: 'Lists the products, newest first.',
  query: portalSearchQuery,
  returns: z.array(ProductListRow),
  async handle({ query }, { portal }: Pick<PortalServices, 'portal'>) {
    const found = await portal.products.searchPage(query);
    const partners = await portal.catalogues.products.leftOf(found.map(({ ID }) => ID));
    const catalogues = await portal.catalogues.byIds([...partners.values()].flat());
    return found.map(it => ({
      ...toProductRow(it),
      Catalogues: partnersOf(partners, it.ID).flatMap(id => catalogues.get(id)?.Name ?? []),
      Hidden: it.Hidden,
    }));
  },
});

export const createProduct = operation({
  ...declared,
  name: 'createProduct',
  method: 'POST',
  changesTraffic: true,
  path: '/portal-api/products',
  about: 'Creates a product from APIs of a provider, with its access policy there; or from documents alone.',
  body: ProductWrite,
  returns: Product,
  status: 201,
  problems: failures,
  async handle({ body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const now = clock.now();
    const relations = await resolveRelations(body, undefined, services);
    const fresh = {
      ...defaultProduct,
      ID: 0,
      CID: body.CID ?? createSortableId(now),
      Name: body.Name,
      Path: body.Path ?? (await portal.products.findFreePath(body.Name, now)),
      ProviderID: 0,
      CreatedAt: now,
      UpdatedAt: now,
    };
    await portal.products.refuseTaken(fresh);
    const product = await applyProductChange(fresh, body, services);
    const created = await publishAtProvider(product, services, product =>
      records.write(async () => {
        await portal.providers.lock(product.ProviderID);
        const inserted = await portal.products.insertOrReplaceSynchronized(product);
        await saveRelations(inserted.ID, relations, portal);
        return inserted;
      }),
    );
    audit(String(created.ID));
    return loadProductView(created, services);
  },
});

export const getProduct = operation({
  ...declared,
  name: 'getProduct',
  method: 'GET',
  path: '/portal-api/products/{product_id}',
  about: 'Returns a product with its APIs and catalogues.',
  params,
  returns: Product,
  problems: [problem.not_found],
  async handle({ params: { product_id } }, services: Pick<PortalServices, 'portal'>) {
    return loadProductView(present(await services.portal.products.get(product_id), 'Product'), services);
  },
});

export const updateProduct = operation({
  ...declared,
  name: 'updateProduct',
  method: 'PUT',
  changesTraffic: true,
  path: '/portal-api/products/{product_id}',
  about: 'Updates a product, and its name and APIs in the access policy. Omitted members do not change.',
  params,
  body: ProductChange,
  returns: Product,
  problems: [problem.unknown, ...failures],
  async handle({ params: { product_id }, body, audit }, services: Services) {
    const { portal, records, clock } = services;
    const before = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(before.ID));
    const relations = await resolveRelations(body, before, services);
    const product = await applyProductChange(before, body, services);
    await portal.products.refuseTaken(product);
    const save = (product: StoredProduct) =>
      records.write(async () => {
        let locked = before;
        const changed = await portal.products.change(before.ID, current => {
          locked = current;
          return mergeProductChange(current, { before, after: product, body }, clock.now());
        });
        const saved = present(changed, 'Product', 'unknown');
        await removeDroppedFiles(locked, saved, portal);
        await followApiChange(locked, saved, services);
        await saveRelations(before.ID, relations, portal);
        return saved;
      });
    const saved =
      before.ReferenceID === ''
        ? await publishAtProvider(product, services, save)
        : await save(await updateAtProvider(product, before, services));
    return loadProductView(saved, services);
  },
});

export const deleteProduct = operation({
  ...declared,
  name: 'deleteProduct',
  method: 'DELETE',
  changesTraffic: true,
  path: '/portal-api/products/{product_id}',
  about:
    'Deletes a product, its access policy and the scopes of its APIs that select it: credentials lose access at once.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.provider_refused, problem.provider_unavailable],
  async handle({ params: { product_id }, audit }, services: Services) {
    const { portal, records } = services;
    const product = present(await portal.products.get(product_id), 'Product');
    const { ID, ReferenceID, ProviderID } = product;
    audit(String(ID));
    await unlinkApis(product, services);
    const provider = ReferenceID === '' ? undefined : await portal.providers.get(ProviderID);
    if (provider) await callProvider(provider, services, plane => plane.deletePolicy(ReferenceID));
    await records.write(async () => {
      const product = await portal.products.change(ID, it => it);
      await removeProduct(ID, portal);
      if (product) await followApiChange(product, { APIDetails: [] }, services);
    });
    return okStatus;
  },
});

export const productOperations = [listProducts, createProduct, getProduct, updateProduct, deleteProduct];
