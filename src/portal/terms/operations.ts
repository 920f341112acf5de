import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalPageQuery } from '../shapes.ts';
import {
  type StoredTerms,
  TermsAcceptance,
  TermsChange,
  TermsVersion,
  TermsWrite,
  toAcceptanceView,
  toTermsView,
} from './schema.ts';

const declared = { surface: 'portal', noun: 'terms', permission: 'secret' } as const;
const params = z.object({ terms_id: numberedId });
const listPath = '/portal-api/terms';
const termsPath = `${listPath}/{terms_id}`;
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

const loadTermsView = async (terms: StoredTerms, { portal }: Pick<PortalServices, 'portal'>) =>
  toTermsView(terms, (await portal.terms.findCurrent(terms.ProductID))?.ID ?? 0);

/** Refuses terms of a product that does not exist. */
async function checkProduct(productId: number | undefined, { portal }: Pick<PortalServices, 'portal'>): Promise<void> {
  if (productId) present(await portal.products.get(productId), 'Product', 'unknown');
}

export const listTerms = operation({
  ...declared,
  name: 'listTerms',
  method: 'GET',
  path: listPath,
  about: 'Lists the versions of the terms of use, newest first.',
  query: portalPageQuery,
  returns: z.array(TermsVersion),
  async handle({ query }, { portal }: Pick<PortalServices, 'portal'>) {
    const listed = await portal.terms.page(query);
    const current = new Map<number, number | undefined>();
    for (const { ProductID = 0 } of listed)
      if (!current.has(ProductID)) current.set(ProductID, (await portal.terms.findCurrent(ProductID))?.ID);
    return listed.map(it => toTermsView(it, current.get(it.ProductID ?? 0) ?? 0));
  },
});

export const createTerms = operation({
  ...declared,
  name: 'createTerms',
  method: 'POST',
  path: listPath,
  about:
    'Creates a version of the terms of use, of the portal or a product: a draft, or with Published in force at once.',
  body: TermsWrite,
  example: { Version: '2030-01', Content: '## Terms of use' },
  returns: TermsVersion,
  status: 201,
  problems: [problem.terms_exist, problem.unknown],
  async handle({ body, audit }, services: Services) {
    await checkProduct(body.ProductID, services);
    const now = services.clock.now();
    const created = await services.portal.terms.insert({
      ProductID: body.ProductID ?? 0,
      Version: body.Version,
      Content: body.Content,
      PublishedAt: body.Published ? now : 0,
      CreatedAt: now,
      UpdatedAt: now,
    });
    audit(String(created.ID));
    return loadTermsView(created, services);
  },
});

export const getTerms = operation({
  ...declared,
  name: 'getTerms',
  method: 'GET',
  path: termsPath,
  about: 'Returns a version of the terms of use.',
  params,
  returns: TermsVersion,
  problems: [problem.not_found],
  async handle({ params: { terms_id } }, services: Pick<PortalServices, 'portal'>) {
    return loadTermsView(present(await services.portal.terms.get(terms_id), 'Terms'), services);
  },
});

/** Published terms stay as they were accepted: the same values are no change. */
function changeTerms(before: StoredTerms, body: z.output<typeof TermsChange>, now: number): StoredTerms {
  const { Version = before.Version, Content = before.Content, ProductID = before.ProductID ?? 0 } = body;
  const next = { ...before, Version, Content, ProductID };
  const isSame = Version === before.Version && Content === before.Content && ProductID === (before.ProductID ?? 0);
  if (before.PublishedAt !== 0 && (!isSame || body.Published === false)) throw problem.terms_published();
  const PublishedAt = before.PublishedAt || (body.Published ? now : 0);
  return { ...next, PublishedAt, UpdatedAt: now };
}

export const updateTerms = operation({
  ...declared,
  name: 'updateTerms',
  method: 'PUT',
  path: termsPath,
  about: 'Changes or publishes a draft of the terms of use. A published version does not change.',
  params,
  body: TermsChange,
  returns: TermsVersion,
  problems: [problem.unknown, problem.terms_exist, problem.terms_published],
  async handle({ params: { terms_id }, body, audit }, services: Services) {
    audit(String(terms_id));
    await checkProduct(body.ProductID, services);
    const changed = await services.portal.terms.change(terms_id, it => changeTerms(it, body, services.clock.now()));
    return loadTermsView(present(changed, 'Terms', 'unknown'), services);
  },
});

export const deleteTerms = operation({
  ...declared,
  name: 'deleteTerms',
  method: 'DELETE',
  path: termsPath,
  about: 'Deletes a version of the terms of use that was not accepted yet; the one published before is in force then.',
  params,
  returns: okResponse,
  problems: [problem.not_found, problem.terms_accepted],
  async handle({ params: { terms_id }, audit }, { portal, records }: Services) {
    audit(String(terms_id));
    await records.write(async () => {
      present(await portal.terms.rows.lock({ id: terms_id }), 'Terms');
      const count = await portal.terms.acceptances.count({ terms_id });
      if (count > 0) throw problem.terms_accepted({ detail: { count } });
      await portal.terms.remove(terms_id);
    });
    return okStatus;
  },
});

export const listTermsAcceptances = operation({
  ...declared,
  name: 'listTermsAcceptances',
  method: 'GET',
  path: `${termsPath}/acceptances`,
  about: 'Lists who accepted a version of the terms of use, with time and client address, newest first.',
  params,
  query: portalPageQuery,
  returns: z.array(TermsAcceptance),
  problems: [problem.not_found],
  async handle({ params: { terms_id }, query }, { portal }: Pick<PortalServices, 'portal'>) {
    const { ID } = present(await portal.terms.get(terms_id), 'Terms');
    return (await portal.terms.acceptances.page(query, { terms_id: ID })).map(toAcceptanceView);
  },
});

export const termsOperations = [listTerms, createTerms, getTerms, updateTerms, deleteTerms, listTermsAcceptances];
