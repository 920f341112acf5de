import { z } from 'zod';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { present, problem } from '../problems.ts';
import { numberedId, okResponse, okStatus, type PortalRef, portalId, portalPageQuery } from '../shapes.ts';
import { addEntry, type EntryServices } from './entry-creation.ts';
import { ChangelogChange, ChangelogEntry, ChangelogWrite, toChangelogView } from './schema.ts';

const declared = { surface: 'portal', noun: 'changelogs', permission: 'secret' } as const;
const params = z.object({ product_id: portalId });
const entryParams = params.extend({ entry_id: numberedId });
const listPath = '/portal-api/products/{product_id}/changelog';
const entryPath = `${listPath}/{entry_id}`;
type Services = EntryServices;
type Reads = Pick<PortalServices, 'portal'>;

const requireProduct = async (ref: PortalRef, { portal }: Reads, missing?: 'unknown') =>
  present(await portal.products.get(ref), 'Product', missing);

export const listChangelog = operation({
  ...declared,
  name: 'listChangelog',
  method: 'GET',
  path: listPath,
  about: 'Lists the changelog of a product, the newest release first.',
  params,
  query: portalPageQuery,
  returns: z.array(ChangelogEntry),
  problems: [problem.not_found],
  async handle({ params: { product_id }, query }, services: Reads) {
    const { ID } = await requireProduct(product_id, services);
    return (await services.portal.changelog.page(ID, query)).map(toChangelogView);
  },
});

export const createChangelogEntry = operation({
  ...declared,
  name: 'createChangelogEntry',
  method: 'POST',
  path: listPath,
  about: 'Adds an entry to the changelog of a product, and notifies its subscribers.',
  params,
  body: ChangelogWrite,
  example: { Kind: 'added', Headline: 'Orders can be cancelled', Version: '1.1', ReleasedAt: '2030-01-31 12:00' },
  returns: ChangelogEntry,
  status: 201,
  problems: [problem.unknown, problem.too_many_changes],
  async handle({ params: { product_id }, body, audit }, services: Services) {
    const { ID } = await requireProduct(product_id, services, 'unknown');
    audit(String(ID));
    const created = await services.records.write(() => addEntry(ID, body, services));
    return toChangelogView(created);
  },
});

export const getChangelogEntry = operation({
  ...declared,
  name: 'getChangelogEntry',
  method: 'GET',
  path: entryPath,
  about: 'Returns an entry of the changelog of a product.',
  params: entryParams,
  returns: ChangelogEntry,
  problems: [problem.not_found],
  async handle({ params: { product_id, entry_id } }, services: Reads) {
    const { ID } = await requireProduct(product_id, services);
    return toChangelogView(present(await services.portal.changelog.get(ID, entry_id), 'Entry'));
  },
});

export const updateChangelogEntry = operation({
  ...declared,
  name: 'updateChangelogEntry',
  method: 'PUT',
  path: entryPath,
  about: 'Changes an entry of the changelog of a product; the time of its release stays.',
  params: entryParams,
  body: ChangelogChange,
  returns: ChangelogEntry,
  problems: [problem.unknown],
  async handle({ params: { product_id, entry_id }, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID } = await requireProduct(product_id, services, 'unknown');
    audit(String(ID));
    const changed = await portal.changelog.change(ID, entry_id, it => ({
      ...it,
      Version: body.Version ?? it.Version,
      Kind: body.Kind ?? it.Kind,
      Headline: body.Headline ?? it.Headline,
      Text: body.Text ?? it.Text,
      UpdatedAt: clock.now(),
    }));
    return toChangelogView(present(changed, 'Entry', 'unknown'));
  },
});

export const deleteChangelogEntry = operation({
  ...declared,
  name: 'deleteChangelogEntry',
  method: 'DELETE',
  path: entryPath,
  about: 'Deletes an entry of the changelog of a product.',
  params: entryParams,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params: { product_id, entry_id }, audit }, services: Reads) {
    const { ID } = await requireProduct(product_id, services);
    audit(String(ID));
    present((await services.portal.changelog.remove(ID, entry_id)) || undefined, 'Entry');
    return okStatus;
  },
});

export const changelogOperations = [
  listChangelog,
  createChangelogEntry,
  getChangelogEntry,
  updateChangelogEntry,
  deleteChangelogEntry,
];
