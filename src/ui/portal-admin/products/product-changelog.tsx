import { Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { ChangelogDialog, changelogReads } from './changelog-dialog.tsx';
import { ChangelogProposals } from './changelog-proposals.tsx';

const own = adminTexts.changelog;
const pageRows = 50;
type Entry = ResultOf<'GET /portal-api/products/{product_id}/changelog'>[number];

/** Changelog of a product, the newest release first: entries are added, changed and deleted. */
export function ProductChangelog({ productId }: { productId: number }) {
  const [page, setPage] = useState(1);
  const [edited, setEdited] = useState<Entry | 'new'>();
  const [removed, setRemoved] = useState<Entry>();
  const product_id = String(productId);
  const given = { params: { product_id }, query: { page, per_page: pageRows } };
  const read = useOperation('GET /portal-api/products/{product_id}/changelog', given, { keepPrevious: true });
  const entries = read.data?.value;
  return (
    <>
      <ChangelogProposals productId={product_id} />
      <Card
        title={own.title}
        action={
          <Button icon={Plus} onClick={() => setEdited('new')}>
            {own.add}
          </Button>
        }
      >
        {!entries && <QueryState query={read} lines={3} />}
        {entries?.length === 0 && <p className="text-dim">{own.empty}</p>}
        <ul className="flex flex-col gap-2">
          {entries?.map(entry => (
            <li key={entry.ID} className="flex flex-wrap items-center gap-2">
              <Badge>{own.kinds[entry.Kind]}</Badge>
              <span className="min-w-0 font-medium break-words">{entry.Headline}</span>
              <span className="text-dim">{[entry.Version, entry.ReleasedAt].filter(Boolean).join(' · ')}</span>
              <IconButton icon={Pencil} label={own.edit(entry.Headline)} onClick={() => setEdited(entry)} />
              <IconButton icon={Trash2} label={own.remove(entry.Headline)} onClick={() => setRemoved(entry)} />
            </li>
          ))}
        </ul>
        <div className="mt-3 flex gap-2">
          {page > 1 && <Button onClick={() => setPage(page - 1)}>{own.newer}</Button>}
          {entries?.length === pageRows && <Button onClick={() => setPage(page + 1)}>{own.older}</Button>}
        </div>
        {edited && (
          <ChangelogDialog
            productId={product_id}
            entry={edited === 'new' ? undefined : edited}
            onClose={() => setEdited(undefined)}
          />
        )}
        {removed && <RemoveEntry productId={product_id} entry={removed} onClose={() => setRemoved(undefined)} />}
      </Card>
    </>
  );
}

function RemoveEntry({ productId, entry, onClose }: { productId: string; entry: Entry; onClose(): void }) {
  const remove = useWrite('DELETE /portal-api/products/{product_id}/changelog/{entry_id}', changelogReads);
  const toasts = useToasts();
  const params = { product_id: productId, entry_id: String(entry.ID) };
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={`${own.remove(entry.Headline)}?`}
      consequence={own.removeConsequence}
      action={own.remove(entry.Headline)}
      isBusy={remove.isPending}
      onConfirm={() =>
        remove.mutate({ given: { params } }, { onError: error => toasts.showError(error.message), onSettled: onClose })
      }
      onClose={onClose}
    />
  );
}
