import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type PostServices, resolvePostLabels } from '../posts/operations.ts';
import { ArticleChange, ArticleWrite } from '../posts/schema.ts';
import { present, problem } from '../problems.ts';
import { lenientInt, numberedId, okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { Doc, type StoredDoc, toDocView } from './schema.ts';

type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'> & PostServices;

const declared = { surface: 'portal', noun: 'docs', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const docParams = params.extend({ doc_id: numberedId });
const maxDocs = 1000;

async function loadDocViews(docs: readonly StoredDoc[], { posts }: Services) {
  const labels = await posts.readLabels(docs);
  return docs.map((doc, place) => toDocView(doc, labels[place]!));
}
const loadDocView = async (doc: StoredDoc, services: Services) => (await loadDocViews([doc], services))[0]!;

/** Inserts a doc after the last one, under the lock of its product. */
const appendDoc = (productId: number, doc: Omit<StoredDoc, 'ID' | 'Position' | 'ProductID'>, services: Services) =>
  services.records.write(async () => {
    const { portal } = services;
    present(await portal.products.change(productId, it => it), 'Product', 'unknown');
    const { ids, lastPosition } = await portal.docs.readOrder(productId);
    if (ids.length >= maxDocs) throw problem.too_many_docs({ detail: { max: maxDocs } });
    return portal.docs.insert({ ...doc, ProductID: productId, Position: lastPosition + 1 });
  });

export const listDocs = operation({
  ...declared,
  name: 'listDocs',
  method: 'GET',
  path: '/portal-api/products/{product_id}/docs',
  about: 'Lists the docs of a product, in their order.',
  params,
  query: portalPageQuery,
  returns: z.array(Doc),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    return loadDocViews(await services.portal.docs.page(ID, query), services);
  },
});

export const createDoc = operation({
  ...declared,
  name: 'createDoc',
  method: 'POST',
  path: '/portal-api/products/{product_id}/docs',
  about: 'Adds a doc to a product, after the others.',
  params,
  body: ArticleWrite,
  returns: Doc,
  status: 201,
  problems: [problem.unknown, problem.doc_exists, problem.too_many_docs],
  async handle({ params: { product_id }, body, audit }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    const { Categories = [], Tags = [] } = await resolvePostLabels(body, services);
    const now = services.clock.now();
    const doc = {
      Title: body.Title,
      Lede: body.Lede ?? '',
      Content: body.Content,
      Status: body.Status,
      Path: body.Path,
      Categories,
      Tags,
      MarkdownEnabled: body.MarkdownEnabled ?? false,
      MarkdownContent: body.MarkdownContent ?? '',
      PreviewContent: body.PreviewContent ?? '',
      CreatedAt: now,
      UpdatedAt: now,
    };
    return loadDocView(await appendDoc(ID, doc, services), services);
  },
});

export const reorderDocs = operation({
  ...declared,
  name: 'reorderDocs',
  method: 'POST',
  path: '/portal-api/products/{product_id}/docs/reorder',
  about: 'Sets the order of the docs of a product: the ids of all of them.',
  params,
  body: z.array(lenientInt).max(maxDocs),
  example: [2, 1],
  returns: okResponse,
  problems: [problem.unknown, problem.docs_incomplete],
  async handle({ params: { product_id }, body, audit }, { portal, records }: Services) {
    const { ID } = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    await records.write(async () => {
      present(await portal.products.change(ID, it => it), 'Product', 'unknown');
      const { ids } = await portal.docs.readOrder(ID);
      const given = new Set(body);
      if (given.size !== body.length || given.size !== ids.length || !ids.every(id => given.has(id)))
        throw problem.docs_incomplete();
      for (const [place, id] of body.entries()) await portal.docs.change(id, doc => ({ ...doc, Position: place + 1 }));
    });
    return okStatus;
  },
});

export const getDoc = operation({
  ...declared,
  name: 'getDoc',
  method: 'GET',
  path: '/portal-api/products/{product_id}/docs/{doc_id}',
  about: 'Returns a doc of a product.',
  params: docParams,
  returns: Doc,
  problems: [problem.not_found],
  async handle({ params: { product_id, doc_id } }, services: Services) {
    const { ID } = present(await services.portal.products.get(product_id), 'Product');
    return loadDocView(present(await services.portal.docs.get(ID, doc_id), 'Doc'), services);
  },
});

export const updateDoc = operation({
  ...declared,
  name: 'updateDoc',
  method: 'PUT',
  path: '/portal-api/products/{product_id}/docs/{doc_id}',
  about: 'Updates a doc of a product. Lists replace the stored ones; omitted members do not change.',
  params: docParams,
  body: ArticleChange,
  returns: Doc,
  problems: [problem.unknown, problem.doc_exists],
  async handle({ params: { product_id, doc_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const product = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(product.ID));
    const { ID } = present(await portal.docs.get(product.ID, doc_id), 'Doc', 'unknown');
    const labels = await resolvePostLabels(body, services);
    const changed = await portal.docs.change(ID, it => ({
      ...it,
      Title: body.Title,
      Lede: body.Lede ?? it.Lede,
      Content: body.Content ?? it.Content,
      Status: body.Status,
      Path: body.Path ?? it.Path,
      Categories: labels.Categories ?? it.Categories,
      Tags: labels.Tags ?? it.Tags,
      MarkdownEnabled: body.MarkdownEnabled ?? it.MarkdownEnabled,
      MarkdownContent: body.MarkdownContent ?? it.MarkdownContent,
      PreviewContent: body.PreviewContent ?? it.PreviewContent,
      UpdatedAt: clock.now(),
    }));
    return loadDocView(present(changed, 'Doc', 'unknown'), services);
  },
});

export const deleteDoc = operation({
  ...declared,
  name: 'deleteDoc',
  method: 'DELETE',
  path: '/portal-api/products/{product_id}/docs/{doc_id}',
  about: 'Deletes a doc of a product.',
  params: docParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, doc_id }, audit }, { portal }: Services) {
    const product = present(await portal.products.get(product_id), 'Product');
    audit(String(product.ID));
    const { ID } = present(await portal.docs.get(product.ID, doc_id), 'Doc');
    await portal.docs.remove(ID);
    return okStatus;
  },
});

export const docOperations = [listDocs, createDoc, reorderDocs, getDoc, updateDoc, deleteDoc];
