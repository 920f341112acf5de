import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { paginate, portalId, portalPageQuery } from '../shapes.ts';
import {
  ApiDetail,
  ApiDetailChange,
  ApiDetailRow,
  type StoredProduct,
  toApiDetailRow,
  toApiDetailView,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'clock'>;

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const detailParams = params.extend({ api_id: z.string().describe('Id of the API') });

export const requireApiDetail = ({ APIDetails }: StoredProduct, apiId: string, missing: Missing) =>
  present(
    APIDetails.find(({ APIID }) => APIID === apiId),
    'API',
    missing,
  );

export const listApiDetails = operation({
  ...declared,
  name: 'listApiDetails',
  method: 'GET',
  path: '/portal-api/products/{product_id}/api-details',
  about: 'Lists the APIs of a product.',
  params,
  query: portalPageQuery,
  returns: z.array(ApiDetailRow),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, { portal }: Services) {
    const { APIDetails } = present(await portal.products.get(product_id), 'Product');
    return paginate(APIDetails, query).map(toApiDetailRow);
  },
});

export const getApiDetail = operation({
  ...declared,
  name: 'getApiDetail',
  method: 'GET',
  path: '/portal-api/products/{product_id}/api-details/{api_id}',
  about: 'Returns an API of a product.',
  params: detailParams,
  returns: ApiDetail,
  problems: [problem.not_found],
  async handle({ params: { product_id, api_id } }, { portal }: Services) {
    const product = present(await portal.products.get(product_id), 'Product');
    return toApiDetailView(requireApiDetail(product, api_id, 'not_found'));
  },
});

export const updateApiDetail = operation({
  ...declared,
  name: 'updateApiDetail',
  method: 'PUT',
  path: '/portal-api/products/{product_id}/api-details/{api_id}',
  about: 'Updates the name, description and document address that the portal shows for an API of a product.',
  params: detailParams,
  body: ApiDetailChange,
  example: { Name: 'Orders', Description: 'All orders of a shop', OASUrl: 'https://api.example/orders.json' },
  returns: ApiDetail,
  problems: [problem.unknown],
  async handle({ params: { product_id, api_id }, body, audit }, { portal, clock }: Services) {
    const { ID } = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    const changed = await portal.products.change(ID, product => {
      const { ChosenName, ...before } = requireApiDetail(product, api_id, 'unknown');
      const name = body.Name ?? ChosenName ?? '';
      const detail = {
        ...before,
        ...(name !== '' && name !== before.Name && { ChosenName: name }),
        Description: body.Description ?? before.Description,
        OASUrl: body.OASUrl ?? before.OASUrl,
      };
      const APIDetails = product.APIDetails.map(it => (it.APIID === api_id ? detail : it));
      return { ...product, APIDetails, UpdatedAt: clock.now() };
    });
    return toApiDetailView(requireApiDetail(present(changed, 'Product', 'unknown'), api_id, 'unknown'));
  },
});

export const apiDetailOperations = [listApiDetails, getApiDetail, updateApiDetail];
