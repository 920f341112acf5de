import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import { partnersOf } from '../join-table-store.ts';
import type { PortalServices } from '../portal-stores.ts';
import type { StoredLabel } from '../posts/schema.ts';
import { present, problem } from '../problems.ts';
import { maxProductTags } from '../products/schema.ts';
import { okResponse, okStatus, paginate, portalId, portalPageQuery } from '../shapes.ts';
import { ProductTag, ProductTagWrite } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const tagParams = params.extend({ tag_name: z.string().describe('Name of the tag') });

const toProductTag = ({ Name }: StoredLabel): z.output<typeof ProductTag> => ({ Name });

async function listTagsOf(productId: number, { portal }: Pick<PortalServices, 'portal'>): Promise<StoredLabel[]> {
  const ids = partnersOf(await portal.productTags.leftOf([productId]), productId);
  return [...(await portal.tags.byIds(ids)).values()];
}

async function requireTag(productId: number, name: string, services: Services): Promise<StoredLabel> {
  const tags = await listTagsOf(productId, services);
  return present(
    tags.find(({ Name }) => Name === name),
    'Tag',
  );
}

/** Replaces the tags of a product under the lock of its row. */
const changeTags = (productId: number, change: (ids: number[]) => number[], services: Services) =>
  services.records.write(async () => {
    const { portal, clock } = services;
    const changed = await portal.products.change(productId, it => ({ ...it, UpdatedAt: clock.now() }));
    present(changed, 'Product', 'unknown');
    const before = partnersOf(await portal.productTags.leftOf([productId]), productId);
    await portal.productTags.setLeftOf(productId, change(before));
  });

export const listProductTags = operation({
  ...declared,
  name: 'listProductTags',
  method: 'GET',
  path: '/portal-api/products/{product_id}/tags',
  about: 'Lists the tags of a product.',
  params,
  query: portalPageQuery,
  returns: z.array(ProductTag),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    const tags = await listTagsOf(ID, services);
    return paginate(tags, query).map(toProductTag);
  },
});

export const attachProductTag = operation({
  ...declared,
  name: 'attachProductTag',
  method: 'POST',
  path: '/portal-api/products/{product_id}/tags',
  about: 'Adds a tag to a product by its name; a missing tag is created.',
  params,
  body: ProductTagWrite,
  returns: ProductTag,
  status: 201,
  problems: [problem.unknown, problem.too_many_tags],
  async handle({ params: { product_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID } = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    const [tagId] = await portal.tags.resolveOrCreate([body.Name], 'Name', 'tag', clock.now());
    const add = (ids: number[]) => {
      if (!ids.includes(tagId!) && ids.length >= maxProductTags)
        throw problem.too_many_tags({ detail: { max: maxProductTags } });
      return [...ids, tagId!];
    };
    await changeTags(ID, add, services);
    return { Name: body.Name };
  },
});

export const getProductTag = operation({
  ...declared,
  name: 'getProductTag',
  method: 'GET',
  path: '/portal-api/products/{product_id}/tags/{tag_name}',
  about: 'Returns a tag of a product.',
  params: tagParams,
  returns: ProductTag,
  problems: [problem.not_found],
  async handle({ params: { product_id, tag_name } }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    return toProductTag(await requireTag(ID, tag_name, services));
  },
});

export const detachProductTag = operation({
  ...declared,
  name: 'detachProductTag',
  method: 'DELETE',
  path: '/portal-api/products/{product_id}/tags/{tag_name}',
  about: 'Removes a tag from a product; the tag is not deleted.',
  params: tagParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, tag_name }, audit }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    audit(String(ID));
    const tag = await requireTag(ID, tag_name, services);
    await changeTags(ID, ids => ids.filter(id => id !== tag.ID), services);
    return okStatus;
  },
});

export const productTagOperations = [listProductTags, attachProductTag, getProductTag, detachProductTag];
