import { useEffect } from 'react';
import { Button } from '../../../kit/button.tsx';
import { texts } from '../../../texts/texts.ts';
import { ReviewDialog } from '../review-dialog.tsx';
import type { DefinitionDraft } from './use-draft.ts';

const own = texts.apis;
const barClass =
  'sticky bottom-0 z-10 flex flex-wrap items-center gap-2 rounded-card border border-line bg-surface ' + 'px-3 py-2';

interface DefinitionSaveBarProps {
  readonly draft: DefinitionDraft;
  readonly isIncomplete?: boolean;
  /** Text of a definition in the review; by default all of it as JSON. */
  readonly toShown?: (text: string) => string;
  /** Leads to the first fault of the server; also when a save is asked for. */
  onShowFault?(): void;
}

/** State of the edits, and what can be done with them: at the lower edge while there are any. */
export function DefinitionSaveBar({ draft, isIncomplete = false, toShown, onShowFault }: DefinitionSaveBarProps) {
  const { base, text, isDirty, check, save, isReviewing, setReviewing } = draft;
  const canReview = isDirty && check.isValid && !isIncomplete;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (canReview) setReviewing(true);
      else onShowFault?.();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [canReview, setReviewing, onShowFault]);
  if (!draft.canWrite) return <p className="text-dim">{texts.designer.readOnly}</p>;
  return (
    <>
      <div className={barClass}>
        <span role="status" className="mr-auto text-dim">
          {isDirty ? `${own.unsaved}${check.summary && `: ${check.summary}`}` : own.unchanged}
        </span>
        {onShowFault && isDirty && check.faults.length > 0 && (
          <Button onClick={onShowFault}>{texts.designer.showFault}</Button>
        )}
        <Button disabled={!isDirty} onClick={draft.discard}>
          {own.discard}
        </Button>
        <Button kind="primary" disabled={!canReview} onClick={() => setReviewing(true)}>
          {own.review}
        </Button>
      </div>
      <ReviewDialog
        isOpen={isReviewing}
        before={toShown ? toShown(base.text) : base.text}
        after={toShown ? toShown(text) : text}
        language={toShown ? 'text' : 'json'}
        save={save}
        onSave={(force, note) => save.run(text, force, note)}
        onTakeStored={draft.takeStored}
        onApplyOnTop={() => void draft.applyOnTop()}
        onClose={draft.close}
      />
    </>
  );
}
