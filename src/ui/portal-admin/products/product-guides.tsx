import { ArrowDown, ArrowUp, Pencil, Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { GuideDialog, guideReads } from './guide-dialog.tsx';
import { RemovePart } from './remove-part.tsx';

const own = adminTexts.guides;
type Guide = ResultOf<'GET /portal-api/products/{product_id}/docs'>[number];

/** Guides of a product in their order on the site; they are moved by buttons, which keyboards reach. */
export function ProductGuides({ productId: product_id }: { productId: string }) {
  const [edited, setEdited] = useState<Guide | 'new'>();
  const [removed, setRemoved] = useState<Guide>();
  const read = useOperation('GET /portal-api/products/{product_id}/docs', {
    params: { product_id },
    query: { per_page: 1000 },
  });
  const reorder = useWrite('POST /portal-api/products/{product_id}/docs/reorder', guideReads);
  const remove = useWrite('DELETE /portal-api/products/{product_id}/docs/{doc_id}', guideReads);
  const guides = read.data?.value;
  const move = (place: number, by: 1 | -1) => {
    const body = (guides ?? []).map(({ ID }) => ID);
    body.splice(place + by, 0, ...body.splice(place, 1));
    reorder.mutate({ given: { params: { product_id }, body } });
  };
  return (
    <Card
      title={own.title}
      action={
        <Button icon={Plus} onClick={() => setEdited('new')}>
          {own.add}
        </Button>
      }
    >
      <ErrorText error={reorder.error} />
      {!guides && <QueryState query={read} lines={3} />}
      {guides?.length === 0 && <p className="text-dim">{own.empty}</p>}
      <ol className="flex flex-col gap-2">
        {guides?.map((guide, place) => (
          <GuideRow
            key={guide.ID}
            guide={guide}
            isFirst={place === 0}
            isLast={place === guides.length - 1}
            onMove={by => move(place, by)}
            onEdit={() => setEdited(guide)}
            onRemove={() => setRemoved(guide)}
          />
        ))}
      </ol>
      {edited && (
        <GuideDialog
          productId={product_id}
          guide={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {removed && (
        <RemovePart
          action={own.remove(removed.Title)}
          consequence={own.removeConsequence}
          remove={() => remove.mutateAsync({ given: { params: { product_id, doc_id: String(removed.ID) } } })}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}

interface GuideRowProps {
  readonly guide: Guide;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  onMove(by: 1 | -1): void;
  onEdit(): void;
  onRemove(): void;
}

const GuideRow = ({ guide: { Title, Status }, isFirst, isLast, onMove, onEdit, onRemove }: GuideRowProps) => (
  <li className="flex flex-wrap items-center gap-2">
    <span className="min-w-0 font-medium break-words">{Title}</span>
    <Badge tone={Status === 'published' ? 'success' : 'neutral'}>{adminTexts.posts.states[Status]}</Badge>
    <IconButton icon={ArrowUp} label={own.moveUp(Title)} disabled={isFirst} onClick={() => onMove(-1)} />
    <IconButton icon={ArrowDown} label={own.moveDown(Title)} disabled={isLast} onClick={() => onMove(1)} />
    <IconButton icon={Pencil} label={own.edit(Title)} onClick={onEdit} />
    <IconButton icon={Trash2} label={own.remove(Title)} onClick={onRemove} />
  </li>
);
