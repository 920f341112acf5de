import { Button } from '../../kit/button.tsx';
import { CallError, type ReadRoute } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { useReload } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.kit;

export interface ConflictDialogProps {
  readonly error: Error | null;
  readonly draft: { discard(): void };
  /** Reads that the draft is based on. */
  readonly reads: readonly ReadRoute[];
  onOverwrite(): void;
  onClose(): void;
}

export const isConflict = (error: Error | null): boolean => error instanceof CallError && error.status === 412;

/** The object changed between read and write: one of both states is chosen, none is lost by itself. */
export function ConflictDialog({ error, draft, reads, onOverwrite, onClose }: ConflictDialogProps) {
  const toasts = useToasts();
  const reload = useReload(reads);
  /** Edits are discarded after the read: a failed one keeps them. */
  const takeStored = () =>
    void reload().then(
      () => {
        draft.discard();
        onClose();
      },
      (failure: Error) => toasts.showError(failure.message),
    );
  return (
    <Dialog
      isOpen={isConflict(error)}
      onClose={onClose}
      title={own.conflictTitle}
      footer={
        <>
          <Button onClick={takeStored}>{own.takeStored}</Button>
          <Button kind="danger" onClick={onOverwrite}>
            {own.overwrite}
          </Button>
        </>
      }
    >
      <p>{own.conflictAbout}</p>
    </Dialog>
  );
}
