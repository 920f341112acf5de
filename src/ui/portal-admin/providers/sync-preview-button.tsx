import { Eye } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { describeCounts } from './use-synchronization.ts';

const own = adminTexts.providers;
const route = 'GET /portal-api/providers/{provider_id}/synchronize';
type Preview = ResultOf<typeof route>;

interface SyncPreviewButtonProps {
  readonly providerId: string;
  readonly isBusy: boolean;
  onSynchronize(): void;
}

/** Shows what a synchronisation would do before it is started. */
export function SyncPreviewButton({ providerId, isBusy, onSynchronize }: SyncPreviewButtonProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button icon={Eye} onClick={() => setOpen(true)}>
        {own.preview}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title={own.previewTitle}
        footer={
          <Button
            kind="primary"
            isBusy={isBusy}
            onClick={() => {
              setOpen(false);
              onSynchronize();
            }}
          >
            {own.synchronize}
          </Button>
        }
      >
        <PreviewContent providerId={providerId} />
      </Dialog>
    </>
  );
}

function PreviewContent({ providerId }: { readonly providerId: string }) {
  const read = useOperation(route, { params: { provider_id: providerId } });
  const preview = read.data?.value;
  if (!preview) return <QueryState query={read} />;
  const { Products, Plans, Changes, Conflicts } = preview;
  const counts = describeCounts(Products, Plans);
  return (
    <div className="flex flex-col gap-3">
      <p>{counts === '' ? own.previewNothing : own.previewWould(counts)}</p>
      <Lines title={own.changes} lines={Changes.map(describeChange)} />
      <Lines title={own.conflicts} lines={Conflicts.map(describeConflict)} />
    </div>
  );
}

const describeChange = ({ Kind, Name, Change, Members }: Preview['Changes'][number]): string => {
  const outcomes = {
    added: own.outcomes.Added,
    changed: own.changedMembers(Members.join(', ')),
    hidden: own.outcomes.Hidden,
  };
  return `${own.kinds[Kind]} ${Name}: ${outcomes[Change]}`;
};

const describeConflict = ({ Kind, Name, Reason, Detail }: Preview['Conflicts'][number]): string =>
  `${own.kinds[Kind]} ${Name} ${own.conflictReasons[Reason](Detail)}`;

function Lines({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return undefined;
  return (
    <section>
      <h3 className="text-body">{title}</h3>
      <ul className="list-disc pl-5">
        {lines.map(line => (
          <li key={line} className="break-words">
            {line}
          </li>
        ))}
      </ul>
    </section>
  );
}
