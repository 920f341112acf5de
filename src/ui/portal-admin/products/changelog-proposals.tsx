import { Check, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { ChangelogDialog, changelogReads, type Proposal } from './changelog-dialog.tsx';

const own = adminTexts.changelog;
/** Proposals of a product that wait. */
const maxProposals = 20;

/** Proposed entries of the changelog of a product, each published or dropped; nothing without proposals. */
export function ChangelogProposals({ productId }: { productId: string }) {
  const [published, setPublished] = useState<Proposal>();
  const [dropped, setDropped] = useState<Proposal>();
  const given = { params: { product_id: productId }, query: { per_page: maxProposals } };
  const read = useOperation('GET /portal-api/products/{product_id}/changelog-proposals', given, { keepPrevious: true });
  const proposals = read.data?.value ?? [];
  if (proposals.length === 0) return null;
  return (
    <Card title={own.proposals.title}>
      <p className="text-dim">{own.proposals.about}</p>
      <ul className="mt-3 flex flex-col gap-4">
        {proposals.map(proposal => (
          <li key={proposal.ID}>
            <div className="flex flex-wrap items-center gap-2">
              {proposal.IsBreaking && <Badge tone="warning">{own.proposals.breaking}</Badge>}
              <span className="min-w-0 font-medium break-words">{proposal.Headline}</span>
              <span className="text-dim">
                {[proposal.Document, proposal.Version, proposal.CreatedAt].filter(Boolean).join(' · ')}
              </span>
              <IconButton
                icon={Check}
                label={own.proposals.publish(proposal.Headline)}
                onClick={() => setPublished(proposal)}
              />
              <IconButton
                icon={Trash2}
                label={own.proposals.drop(proposal.Headline)}
                onClick={() => setDropped(proposal)}
              />
            </div>
            <ProposalChanges proposal={proposal} />
          </li>
        ))}
      </ul>
      {published && (
        <ChangelogDialog
          productId={productId}
          entry={undefined}
          proposal={published}
          onClose={() => setPublished(undefined)}
        />
      )}
      {dropped && <DropProposal productId={productId} proposal={dropped} onClose={() => setDropped(undefined)} />}
    </Card>
  );
}

const ProposalChanges = ({ proposal }: { proposal: Proposal }) => (
  <ul className="mt-1 list-disc ps-5 text-sm">
    {proposal.Changes.map(({ Operation, Kind, Text, IsBreaking }) => (
      <li key={`${Operation} ${Kind} ${Text}`} className="break-words">
        <code>{Operation}</code> {Text.replaceAll('`', '') || own.proposals.whole[Kind]}
        {IsBreaking && ` (${own.proposals.breaking.toLowerCase()})`}
      </li>
    ))}
  </ul>
);

function DropProposal({ productId, proposal, onClose }: { productId: string; proposal: Proposal; onClose(): void }) {
  const drop = useWrite('DELETE /portal-api/products/{product_id}/changelog-proposals/{proposal_id}', changelogReads);
  const toasts = useToasts();
  const params = { product_id: productId, proposal_id: String(proposal.ID) };
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={`${own.proposals.drop(proposal.Headline)}?`}
      consequence={own.proposals.dropConsequence}
      action={own.proposals.drop(proposal.Headline)}
      isBusy={drop.isPending}
      onConfirm={() =>
        drop.mutate({ given: { params } }, { onError: error => toasts.showError(error.message), onSettled: onClose })
      }
      onClose={onClose}
    />
  );
}
