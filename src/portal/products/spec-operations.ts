import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import { checkProductDocument } from '../files/documents.ts';
import { uploadedFile } from '../files/shapes.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import {
  lenientBool,
  okResponse,
  okStatus,
  type PortalRef,
  paginate,
  portalId,
  portalPageQuery,
  toSlug,
} from '../shapes.ts';
import { toSpecOwner } from './removal.ts';
import {
  lastSpecIdOf,
  SpecChange,
  SpecDetail,
  SpecWrite,
  type StoredProduct,
  type StoredSpec,
  toSpecView,
} from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock' | 'settings'>;

const declared = { surface: 'portal', noun: 'products', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const specParams = params.extend({ spec_id: portalId });
const maxSpecs = 1000;

const isSpec = (spec: StoredSpec, ref: PortalRef) => ('id' in ref ? spec.ID === ref.id : spec.CID === ref.cid);

export const requireSpec = ({ SpecDetails }: StoredProduct, ref: PortalRef, missing: Missing): StoredSpec =>
  present(
    SpecDetails.find(spec => isSpec(spec, ref)),
    'Specification',
    missing,
  );

/** Aliases select a specification on the page of the product. */
function refuseTakenAlias(others: readonly StoredSpec[], alias: string): void {
  if (others.some(({ SpecAlias }) => SpecAlias === alias)) throw problem.spec_exists({ detail: { alias } });
}

function addSpec(product: StoredProduct, spec: Omit<StoredSpec, 'ID' | 'CID'>, nowMs: number): StoredProduct {
  const { SpecDetails } = product;
  refuseTakenAlias(SpecDetails, spec.SpecAlias);
  if (SpecDetails.length >= maxSpecs) throw problem.too_many_specs({ detail: { max: maxSpecs } });
  const ID = lastSpecIdOf(product) + 1;
  const added = { ID, CID: createSortableId(nowMs), ...spec };
  return { ...product, SpecDetails: [...SpecDetails, added], LastSpecID: ID, UpdatedAt: nowMs };
}

/** Removes a specification with its documents, inside a transaction. */
export async function removeSpec(productId: number, ref: PortalRef, { portal, clock }: Services): Promise<void> {
  let removed: StoredSpec | undefined;
  const changed = await portal.products.change(productId, product => {
    removed = requireSpec(product, ref, 'not_found');
    const SpecDetails = product.SpecDetails.filter(spec => spec !== removed);
    return { ...product, SpecDetails, LastSpecID: lastSpecIdOf(product), UpdatedAt: clock.now() };
  });
  present(changed, 'Product');
  await portal.files.removeAll(toSpecOwner(productId, removed!.ID));
}

export const listSpecs = operation({
  ...declared,
  name: 'listSpecs',
  method: 'GET',
  path: '/portal-api/products/{product_id}/spec-details',
  about: 'Lists the specifications of a product.',
  params,
  query: portalPageQuery,
  returns: z.array(SpecDetail),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, { portal }: Services) {
    const { SpecDetails } = present(await portal.products.get(product_id), 'Product');
    return paginate(SpecDetails, query).map(toSpecView);
  },
});

export const createSpec = operation({
  ...declared,
  name: 'createSpec',
  method: 'POST',
  path: '/portal-api/products/{product_id}/spec-details',
  about: 'Adds a specification to a product.',
  params,
  body: SpecWrite,
  returns: SpecDetail,
  status: 201,
  problems: [problem.unknown, problem.spec_exists, problem.too_many_specs],
  async handle({ params: { product_id }, body, audit }, { portal, clock }: Services) {
    const { ID } = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    const { SpecAlias, OASUrl = '', Name = '' } = body;
    const changed = await portal.products.change(ID, it => addSpec(it, { SpecAlias, OASUrl, Name }, clock.now()));
    return toSpecView(present(changed, 'Product', 'unknown').SpecDetails.at(-1)!);
  },
});

/** A dry run has no ids. */
const NewSpec = SpecDetail.partial({ ID: true, CID: true });

/** Alias from the name of a file: letters, digits and `-`. */
const toAlias = (fileName: string) => toSlug(fileName.replace(/\.\w+$/, '')) || 'schema';

export const createSchemaSpec = operation({
  ...declared,
  name: 'createSchemaSpec',
  method: 'POST',
  path: '/portal-api/products/{product_id}/spec-details/graphql/schema',
  about: 'Adds a specification from a GraphQL schema; its alias is the name of the file. `dry_run` checks it only.',
  params,
  query: z.object({ dry_run: lenientBool.optional().describe('Checks the file, and stores nothing') }),
  accepts: 'upload',
  body: uploadedFile,
  returns: NewSpec,
  problems: [problem.not_found, problem.document_refused, problem.spec_exists, problem.too_many_specs],
  async handle({ params: { product_id }, query, body, audit }, { portal, records, clock, settings }: Services) {
    const product = present(await portal.products.get(product_id), 'Product');
    audit(String(product.ID));
    const file = checkProductDocument('graphql', body, settings['management.max_body_bytes'], problem.document_refused);
    const SpecAlias = toAlias(body.name);
    const spec = { SpecAlias, OASUrl: '', Name: '', DocumentationType: 'graphqlSDL' as const };
    if (query.dry_run) {
      refuseTakenAlias(product.SpecDetails, SpecAlias);
      return spec;
    }
    return records.write(async () => {
      const changed = await portal.products.change(product.ID, it => addSpec(it, spec, clock.now()));
      const created = present(changed, 'Product').SpecDetails.at(-1)!;
      await portal.files.put(toSpecOwner(product.ID, created.ID), 'graphql', file, clock.now());
      return toSpecView(created);
    });
  },
});

export const getSpec = operation({
  ...declared,
  name: 'getSpec',
  method: 'GET',
  path: '/portal-api/products/{product_id}/spec-details/{spec_id}',
  about: 'Returns a specification of a product.',
  params: specParams,
  returns: SpecDetail,
  problems: [problem.not_found],
  async handle({ params: { product_id, spec_id } }, { portal }: Services) {
    const product = present(await portal.products.get(product_id), 'Product');
    return toSpecView(requireSpec(product, spec_id, 'not_found'));
  },
});

export const updateSpec = operation({
  ...declared,
  name: 'updateSpec',
  method: 'PUT',
  path: '/portal-api/products/{product_id}/spec-details/{spec_id}',
  about: 'Updates a specification; omitted members do not change.',
  params: specParams,
  body: SpecChange,
  example: { SpecAlias: 'v1', OASUrl: 'https://api.example/v1.json', Name: 'First version' },
  returns: SpecDetail,
  problems: [problem.not_found, problem.spec_exists],
  async handle({ params: { product_id, spec_id }, body, audit }, { portal, clock }: Services) {
    const { ID } = present(await portal.products.get(product_id), 'Product');
    audit(String(ID));
    const changed = await portal.products.change(ID, product => {
      const before = requireSpec(product, spec_id, 'not_found');
      const next = {
        ...before,
        SpecAlias: body.SpecAlias ?? before.SpecAlias,
        OASUrl: body.OASUrl ?? before.OASUrl,
        Name: body.Name ?? before.Name,
      };
      const others = product.SpecDetails.filter(spec => spec !== before);
      refuseTakenAlias(others, next.SpecAlias);
      const SpecDetails = product.SpecDetails.map(spec => (spec === before ? next : spec));
      return { ...product, SpecDetails, UpdatedAt: clock.now() };
    });
    return toSpecView(requireSpec(present(changed, 'Product'), spec_id, 'not_found'));
  },
});

export const deleteSpec = operation({
  ...declared,
  name: 'deleteSpec',
  method: 'DELETE',
  path: '/portal-api/products/{product_id}/spec-details/{spec_id}',
  about: 'Deletes a specification of a product with its documents.',
  params: specParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, spec_id }, audit }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    audit(String(ID));
    await services.records.write(() => removeSpec(ID, spec_id, services));
    return okStatus;
  },
});

export const specOperations = [listSpecs, createSpec, createSchemaSpec, getSpec, updateSpec, deleteSpec];
