import { z } from 'zod';
import { createSortableId } from '#base/ids.ts';
import { operation } from '#operations/operation.ts';
import type { PortalServices } from '../portal-stores.ts';
import { type Missing, present, problem } from '../problems.ts';
import { okResponse, okStatus, parsePortalRef, portalId, portalPageQuery } from '../shapes.ts';
import { Block, BlockChange, BlockWrite, toBlockView } from './schema.ts';

const declared = { surface: 'portal', noun: 'pages', permission: 'secret' } as const;
const ofPage = z.object({ page_id: portalId });
const ofBlock = ofPage.extend({ content_block_id: portalId });
const blocksPath = '/portal-api/pages/{page_id}/content-blocks';
const blockPath = `${blocksPath}/{content-block_id}`;
/** Characters of the stored blocks of one list: some large ones, or many of the usual size. */
const maxListLength = 10_000_000;
type Services = Pick<PortalServices, 'portal' | 'records' | 'clock'>;

/** A block of a page; one of another page is as good as none. */
async function requireBlock(params: z.output<typeof ofBlock>, { portal }: Services, missing: Missing = 'not_found') {
  const { ID } = present(await portal.pages.get(params.page_id), 'Page', missing);
  const block = await portal.pages.blocks.get(params.content_block_id);
  return present(block?.PageID === ID ? block : undefined, 'Content block', missing);
}

export const listBlocks = operation({
  ...declared,
  name: 'listBlocks',
  method: 'GET',
  path: blocksPath,
  about: 'Lists the content blocks of a page, newest first; `all` lists those of every page.',
  params: z.object({ page_id: z.string().describe('Number, persistent id, or `all`') }),
  query: portalPageQuery,
  returns: z.array(Block),
  problems: [problem.not_found, problem.blocks_too_long],
  async handle({ params: { page_id }, query }, { portal }: Services) {
    const { pages } = portal;
    const where = page_id === 'all' ? {} : { page_id: present(await pages.get(parsePortalRef(page_id)), 'Page').ID };
    if ((await pages.blocks.pageLength(query, where)) > maxListLength)
      throw problem.blocks_too_long({ detail: { maxLength: maxListLength } });
    return (await pages.blocks.page(query, where)).map(toBlockView);
  },
});

export const createBlock = operation({
  ...declared,
  name: 'createBlock',
  method: 'POST',
  path: blocksPath,
  about: 'Adds a content block to a page; its name is that in the template.',
  params: ofPage,
  body: BlockWrite,
  returns: Block,
  problems: [problem.unknown, problem.block_exists],
  async handle({ params, body, audit }, { portal, records, clock }: Services) {
    const { ID: PageID } = present(await portal.pages.get(params.page_id), 'Page', 'unknown');
    audit(String(PageID));
    const now = clock.now();
    const created = await records.write(async () => {
      present(await portal.pages.lock(PageID), 'Page', 'unknown');
      return portal.pages.blocks.insert({
        CID: body.CID ?? createSortableId(now),
        PageID,
        Name: body.Name,
        Content: body.Content ?? '',
        MarkdownEnabled: body.MarkdownEnabled ?? false,
        MarkdownContent: body.MarkdownContent ?? '',
        CreatedAt: now,
        UpdatedAt: now,
      });
    });
    return toBlockView(created);
  },
});

export const getBlock = operation({
  ...declared,
  name: 'getBlock',
  method: 'GET',
  path: blockPath,
  about: 'Returns a content block of a page.',
  params: ofBlock,
  returns: Block,
  problems: [problem.not_found],
  async handle({ params }, services: Services) {
    return toBlockView(await requireBlock(params, services));
  },
});

export const updateBlock = operation({
  ...declared,
  name: 'updateBlock',
  method: 'PUT',
  path: blockPath,
  about: 'Updates a content block of a page; omitted members do not change.',
  params: ofBlock,
  body: BlockChange,
  returns: Block,
  problems: [problem.unknown, problem.block_exists],
  async handle({ params, body, audit }, services: Services) {
    const { portal, clock } = services;
    const { ID, PageID } = await requireBlock(params, services, 'unknown');
    audit(String(PageID));
    const changed = await portal.pages.blocks.change(ID, it => ({
      ...it,
      Name: body.Name ?? it.Name,
      Content: body.Content ?? it.Content,
      MarkdownEnabled: body.MarkdownEnabled ?? it.MarkdownEnabled,
      MarkdownContent: body.MarkdownContent ?? it.MarkdownContent,
      UpdatedAt: clock.now(),
    }));
    return toBlockView(present(changed, 'Content block', 'unknown'));
  },
});

export const deleteBlock = operation({
  ...declared,
  name: 'deleteBlock',
  method: 'DELETE',
  path: blockPath,
  about: 'Deletes a content block of a page.',
  params: ofBlock,
  returns: okResponse,
  problems: [problem.not_found],
  async handle({ params, audit }, services: Services) {
    const { ID, PageID } = await requireBlock(params, services);
    audit(String(PageID));
    await services.portal.pages.blocks.remove(ID);
    return okStatus;
  },
});

export const blockOperations = [listBlocks, createBlock, getBlock, updateBlock, deleteBlock];
