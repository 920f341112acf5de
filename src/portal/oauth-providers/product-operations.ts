import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { createInvalidProblem } from '#operations/validation-error.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { lenientInt, okResponse, okStatus, type PortalRef, paginate, portalId, portalPageQuery } from '../shapes.ts';
import { AttachedClientType, ClientTypeRow, type StoredClientType, toAttachedView } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const typeParams = params.extend({ client_type_id: portalId });

async function listTypesOf(productId: number, { portal }: Services): Promise<StoredClientType[]> {
  const ids = partnersOf(await portal.clientTypes.products.leftOf([productId]), productId);
  return [...(await portal.clientTypes.byIds(ids)).values()];
}

async function requireAttached(productId: number, ref: PortalRef, services: Services): Promise<StoredClientType> {
  const types = await listTypesOf(productId, services);
  return present(
    types.find(({ ID, CID }) => ('id' in ref ? ID === ref.id : CID === ref.cid)),
    'Client type',
  );
}

/** Replaces the client types of a product under the lock of its row. */
const changeTypes = (productId: number, change: (ids: number[]) => number[], services: Services) =>
  services.records.write(async () => {
    const { portal, clock } = services;
    const changed = await portal.products.change(productId, it => ({ ...it, UpdatedAt: clock.now() }));
    present(changed, 'Product', 'unknown');
    const before = partnersOf(await portal.clientTypes.products.leftOf([productId]), productId);
    await portal.clientTypes.products.setLeftOf(productId, change(before));
  });

export const listProductClientTypes = operation({
  ...declared,
  name: 'listProductClientTypes',
  method: 'GET',
  path: '/portal-api/products/{product_id}/client_types',
  about: 'Lists the client types of a product.',
  params,
  query: portalPageQuery,
  returns: z.array(ClientTypeRow),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, services: Services) {
    const product = present(await services.portal.products.get(product_id), 'Product');
    const types = await listTypesOf(product.ID, services);
    return paginate(types, query).map(({ ID, Name }) => ({ ID, Name }));
  },
});

export const attachProductClientType = operation({
  ...declared,
  name: 'attachProductClientType',
  method: 'POST',
  path: '/portal-api/products/{product_id}/client_types',
  about: 'Adds a client type of an OAuth provider to a product.',
  params,
  body: z.object({ ID: lenientInt }),
  returns: AttachedClientType,
  status: 201,
  problems: [problem.unknown],
  async handle({ params: { product_id }, body, audit }, services: Services) {
    const { portal } = services;
    const product = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(product.ID));
    const type = await portal.clientTypes.get(body.ID);
    if (!type) throw createInvalidProblem([{ path: 'ID', message: `there is no client type ${body.ID}` }]);
    await changeTypes(product.ID, ids => [...ids, type.ID], services);
    return toAttachedView(type);
  },
});

export const getProductClientType = operation({
  ...declared,
  name: 'getProductClientType',
  method: 'GET',
  path: '/portal-api/products/{product_id}/client_types/{client_type_id}',
  about: 'Returns a client type of a product.',
  params: typeParams,
  returns: AttachedClientType,
  problems: [problem.not_found],
  async handle({ params: { product_id, client_type_id } }, services: Services) {
    const product = present(await services.portal.products.get(product_id), 'Product');
    return toAttachedView(await requireAttached(product.ID, client_type_id, services));
  },
});

export const detachProductClientType = operation({
  ...declared,
  name: 'detachProductClientType',
  method: 'DELETE',
  path: '/portal-api/products/{product_id}/client_types/{client_type_id}',
  about: 'Removes a client type from a product; the client type is not deleted.',
  params: typeParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, client_type_id }, audit }, services: Services) {
    const product = present(await services.portal.products.get(product_id), 'Product');
    audit(String(product.ID));
    const type = await requireAttached(product.ID, client_type_id, services);
    await changeTypes(product.ID, ids => ids.filter(id => id !== type.ID), services);
    return okStatus;
  },
});

export const productClientTypeOperations = [
  listProductClientTypes,
  attachProductClientType,
  getProductClientType,
  detachProductClientType,
];
