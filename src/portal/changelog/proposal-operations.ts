import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, portalId, portalPageQuery } from '../shapes.ts';
import { addEntry, type EntryServices } from './entry-creation.ts';
import { ChangelogProposal, toProposalView } from './proposal-schema.ts';
import { ChangelogEntry, ProposalPublication, toChangelogView } from './schema.ts';

const declared = { surface: 'portal', noun: 'changelogs', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const proposalParams = params.extend({ proposal_id: numberedId });
const listPath = '/portal-api/products/{product_id}/changelog-proposals';

export const listChangelogProposals = operation({
  ...declared,
  name: 'listChangelogProposals',
  method: 'GET',
  path: listPath,
  about:
    'Lists proposed entries of the changelog of a product, the newest first: each has what differs between two versions of one of its OpenAPI documents.',
  params,
  query: portalPageQuery,
  returns: z.array(ChangelogProposal),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, { portal }: Pick<PortalServices, 'portal'>) {
    const { ID } = present(await portal.products.get(product_id), 'Product');
    return (await portal.proposals.page(ID, query)).map(toProposalView);
  },
});

export const publishChangelogProposal = operation({
  ...declared,
  name: 'publishChangelogProposal',
  method: 'POST',
  path: `${listPath}/{proposal_id}/publish`,
  about:
    'Adds a proposed entry to the changelog, with the given members in place of the proposed ones, and notifies subscribers of the product.',
  params: proposalParams,
  body: ProposalPublication,
  example: { Headline: 'Orders can be cancelled', Notify: false },
  returns: ChangelogEntry,
  status: 201,
  problems: [problem.unknown, problem.too_many_changes],
  async handle({ params: { product_id, proposal_id }, body, audit }, services: EntryServices) {
    const { portal, records } = services;
    const { ID } = present(await portal.products.get(product_id), 'Product', 'unknown');
    audit(String(ID));
    const created = await records.write(async () => {
      const proposal = present(await portal.proposals.lock(ID, proposal_id), 'Proposal', 'unknown');
      await portal.proposals.remove(ID, proposal_id);
      const { Version, Kind, Headline, Text } = proposal;
      const entry = {
        Version: body.Version ?? Version,
        Kind: body.Kind ?? Kind,
        Headline: body.Headline ?? Headline,
        Text: body.Text ?? Text,
      };
      return addEntry(ID, { ...body, ...entry }, services);
    });
    return toChangelogView(created);
  },
});

export const dropChangelogProposal = operation({
  ...declared,
  name: 'dropChangelogProposal',
  method: 'DELETE',
  path: `${listPath}/{proposal_id}`,
  about: 'Drops a proposed entry of the changelog of a product.',
  params: proposalParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, proposal_id }, audit }, { portal }: Pick<PortalServices, 'portal'>) {
    const { ID } = present(await portal.products.get(product_id), 'Product');
    audit(String(ID));
    present((await portal.proposals.remove(ID, proposal_id)) || undefined, 'Proposal');
    return okStatus;
  },
});

export const proposalOperations = [listChangelogProposals, publishChangelogProposal, dropChangelogProposal];
