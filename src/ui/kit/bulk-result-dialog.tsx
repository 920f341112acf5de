import { sharedTexts } from '../texts/shared-texts.ts';
import { FormDialog } from './form-dialog.tsx';

export interface BulkFailure {
  readonly id: string;
  readonly message: string;
}

export interface BulkResultProps {
  readonly title: string;
  readonly about: string;
  readonly failures: readonly BulkFailure[];
  nameOf(id: string): string;
  readonly isBusy: boolean;
  onRetry(ids: readonly string[]): void;
  onClose(): void;
}

/** Failures of an action on many objects, each with its reason, and another try of them. */
export const BulkResultDialog = ({ title, about, failures, nameOf, isBusy, onRetry, onClose }: BulkResultProps) => (
  <FormDialog
    title={title}
    about={about}
    action={sharedTexts.kit.retryFailed}
    closeText={sharedTexts.kit.close}
    error={null}
    isBusy={isBusy}
    onSubmit={() => onRetry(failures.map(({ id }) => id))}
    onClose={onClose}
  >
    <ul aria-label={title} className="flex max-h-72 flex-col gap-1 overflow-y-auto">
      {failures.map(({ id, message }) => (
        <li key={id} className="flex flex-wrap gap-x-2">
          <span className="font-medium break-all">{nameOf(id)}</span>
          <span className="text-small break-words text-dim">{message}</span>
        </li>
      ))}
    </ul>
  </FormDialog>
);
