import { useEffect, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CodeDiff } from '../../kit/code-editor.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';

const own = texts.apis;
const maxNoteLength = 500;

export interface ReviewDialogProps {
  readonly isOpen: boolean;
  readonly before: string;
  readonly after: string;
  readonly language?: 'json' | 'text';
  readonly save: { readonly isConflict: boolean; readonly isPending: boolean; readonly error: Error | null };
  /** With `force` the write ignores changes of others; the history keeps the note. */
  onSave(force: boolean, note: string): void;
  onTakeStored(): void;
  /** Puts the edits on top of the stored state. */
  onApplyOnTop(): void;
  onClose(): void;
}

/** Differences before a save; after a conflict the choice between both states. */
export function ReviewDialog(props: ReviewDialogProps) {
  const { isOpen, before, after, language = 'json', save, onSave, onTakeStored, onApplyOnTop, onClose } = props;
  const [note, setNote] = useState('');
  useEffect(() => {
    if (isOpen) setNote('');
  }, [isOpen]);
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      width="wide"
      title={save.isConflict ? own.conflictTitle : own.reviewTitle}
      about={save.isConflict ? own.conflictAbout : own.reviewAbout}
      footer={
        save.isConflict ? (
          <>
            <Button onClick={onTakeStored}>{own.takeTheirs}</Button>
            <Button kind="danger" isBusy={save.isPending} onClick={() => onSave(true, note)}>
              {own.overwrite}
            </Button>
            <Button kind="primary" onClick={onApplyOnTop}>
              {own.applyOnTop}
            </Button>
          </>
        ) : (
          <>
            <Button onClick={onClose}>{texts.kit.cancel}</Button>
            <Button kind="primary" isBusy={save.isPending} onClick={() => onSave(false, note)}>
              {own.save}
            </Button>
          </>
        )
      }
    >
      <div className="flex flex-col gap-3">
        <ErrorText error={save.error} />
        {!save.isConflict && (
          <TextField
            label={own.note}
            help={own.noteHelp}
            maxLength={maxNoteLength}
            value={note}
            onChange={event => setNote(event.target.value)}
          />
        )}
        <CodeDiff label={own.diffLabel} before={before} after={after} language={language} />
      </div>
    </Dialog>
  );
}
