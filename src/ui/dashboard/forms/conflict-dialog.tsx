import { Button } from '../../kit/button.tsx';
import { CallError } from '../../kit/calls.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.kit;

export interface ConflictDialogProps {
  readonly error: Error | null;
  onTakeStored(): void;
  onOverwrite(): void;
  onClose(): void;
}

export const isConflict = (error: Error | null): boolean => error instanceof CallError && error.status === 412;

/** The object changed between read and write: one of both states is chosen, none is lost by itself. */
export const ConflictDialog = ({ error, onTakeStored, onOverwrite, onClose }: ConflictDialogProps) => (
  <Dialog
    isOpen={isConflict(error)}
    onClose={onClose}
    title={own.conflictTitle}
    footer={
      <>
        <Button onClick={onTakeStored}>{own.takeStored}</Button>
        <Button kind="danger" onClick={onOverwrite}>
          {own.overwrite}
        </Button>
      </>
    }
  >
    <p>{own.conflictAbout}</p>
  </Dialog>
);
