import type { ReactNode } from 'react';
import { sharedTexts } from '../texts/shared-texts.ts';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';

export interface SaveBarProps {
  readonly isDirty: boolean;
  /** Form of a new object: it can be sent without a change, and has no stored state to return to. */
  readonly isNew?: boolean;
  readonly isBusy: boolean;
  /** Verb and object. */
  readonly action: string;
  onDiscard(): void;
  /** Absent: the button submits the form around the bar. */
  onSave?(): void;
  /** Other ways to save, before the primary one. */
  readonly children?: ReactNode;
}

/** Bar at the end of a form: whether something changed, and what to do with it. Changes keep it in sight. */
export const SaveBar = ({ isDirty, isNew = false, isBusy, action, onDiscard, onSave, children }: SaveBarProps) => (
  <div
    className={classNames(
      'flex flex-wrap items-center gap-2 rounded-card border border-line bg-raised px-3 py-2',
      isDirty && 'sticky bottom-2 z-10 shadow-layer',
    )}
  >
    <span role="status" className="mr-auto text-dim">
      {isDirty ? sharedTexts.kit.unsaved : isNew ? '' : sharedTexts.kit.unchanged}
    </span>
    <div className="ml-auto flex flex-wrap justify-end gap-2">
      <Button disabled={!isDirty || isBusy} onClick={onDiscard}>
        {sharedTexts.kit.discard}
      </Button>
      {children}
      <Button
        kind="primary"
        disabled={!isDirty && !isNew}
        isBusy={isBusy}
        {...(onSave ? { onClick: onSave } : { type: 'submit' as const })}
      >
        {action}
      </Button>
    </div>
  </div>
);
