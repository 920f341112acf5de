import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Switch, TextAreaField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { NameDialog } from '../lists/name-dialog.tsx';

const own = adminTexts.pages;
const refreshed = ['GET /portal-api/pages/{page_id}/content-blocks'] as const;
const maxBlocks = 100;
type Block = ResultOf<'GET /portal-api/pages/{page_id}/content-blocks'>[number];

/** Content blocks of a page, each with a form of its own. */
export function ContentBlocks({ pageId }: { pageId: string }) {
  const params = { page_id: pageId };
  const read = useOperation('GET /portal-api/pages/{page_id}/content-blocks', {
    params,
    query: { page: 1, per_page: maxBlocks },
  });
  const create = useWrite('POST /portal-api/pages/{page_id}/content-blocks', refreshed);
  const [isAdding, setAdding] = useState(false);
  const blocks = read.data?.value.toReversed();
  return (
    <Card
      title={own.blocks}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.addBlock}
        </Button>
      }
    >
      <div className="flex max-w-3xl flex-col gap-6">
        <p className="text-dim">{own.blocksAbout}</p>
        {!blocks && <QueryState query={read} />}
        {blocks?.length === 0 && <p className="text-dim">{own.noBlocks}</p>}
        {blocks?.map(block => (
          <BlockForm key={block.ID} pageId={pageId} block={block} />
        ))}
      </div>
      <NameDialog
        key={String(isAdding)}
        isOpen={isAdding}
        title={own.addBlock}
        label={own.blockName}
        action={own.addBlock}
        isBusy={create.isPending}
        error={create.error}
        onSave={Name => create.mutateAsync({ given: { params, body: { Name, MarkdownEnabled: true } } })}
        onClose={() => setAdding(false)}
      />
    </Card>
  );
}

function BlockForm({ pageId, block }: { pageId: string; block: Block }) {
  const { Name } = block;
  const [isMarkdown, setMarkdown] = useState(block.MarkdownEnabled);
  const [text, setText] = useState(block.MarkdownEnabled ? block.MarkdownContent : block.Content);
  const [isDeleting, setDeleting] = useState(false);
  const save = useWrite('PUT /portal-api/pages/{page_id}/content-blocks/{content-block_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/pages/{page_id}/content-blocks/{content-block_id}', refreshed);
  const toasts = useToasts();
  const params = { page_id: pageId, content_block_id: String(block.ID) };
  return (
    <form
      className="flex flex-col gap-3"
      onSubmit={event => {
        event.preventDefault();
        const body = { MarkdownEnabled: isMarkdown, ...(isMarkdown ? { MarkdownContent: text } : { Content: text }) };
        save.mutate({ given: { params, body } }, { onSuccess: () => toasts.showSuccess(own.blockSaved(Name)) });
      }}
    >
      <ErrorText error={save.error} />
      <TextAreaField
        label={own.content(Name)}
        rows={6}
        className="font-mono"
        value={text}
        onChange={event => setText(event.target.value)}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Switch label={own.markdown} checked={isMarkdown} onChange={event => setMarkdown(event.target.checked)} />
        <Button type="submit" isBusy={save.isPending}>
          {own.saveBlock(Name)}
        </Button>
        <IconButton icon={Trash2} label={own.deleteBlock(Name)} onClick={() => setDeleting(true)} />
      </div>
      <ConfirmDialog
        isOpen={isDeleting}
        tier={2}
        title={`${own.deleteBlock(Name)}?`}
        consequence={own.deleteBlockConsequence}
        action={own.deleteBlock(Name)}
        isBusy={remove.isPending}
        onConfirm={() => remove.mutate({ given: { params } }, { onError: error => toasts.showError(error.message) })}
        onClose={() => setDeleting(false)}
      />
    </form>
  );
}
