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
  toTermsView(terms, (await portal.terms.findCurrent())?.ID ?? 0);

export const listTerms = operation({
  ...declared,
  name: 'listTerms',
  method: 'GET',
  path: listPath,
  about: 'Lists the versions of the terms of use, newest first.',
  query: portalPageQuery,
  returns: z.array(TermsVersion),
  async handle({ query }, { portal }: Pick<PortalServices, 'portal'>) {
    const currentId = (await portal.terms.findCurrent())?.ID ?? 0;
    return (await portal.terms.page(query)).map(it => toTermsView(it, currentId));
  },
});

export const createTerms = operation({
  ...declared,
  name: 'createTerms',
  method: 'POST',
  path: listPath,
  about: 'Creates a version of the terms of use: a draft, or with Published in force at once.',
  body: TermsWrite,
  example: { Version: '2030-01', Content: '## Terms of use' },
  returns: TermsVersion,
  status: 201,
  problems: [problem.terms_exist],
  async handle({ body, audit }, services: Services) {
    const now = services.clock.now();
    const created = await services.portal.terms.insert({
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
  const next = { ...before, Version: body.Version ?? before.Version, Content: body.Content ?? before.Content };
  const isSame = next.Version === before.Version && next.Content === before.Content;
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
