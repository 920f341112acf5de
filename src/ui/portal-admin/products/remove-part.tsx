import { useState } from 'react';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useToasts } from '../../kit/toast.tsx';

interface RemovePartProps {
  /** Verb and object. */
  readonly action: string;
  readonly consequence: string;
  remove(): Promise<unknown>;
  onClose(): void;
}

/** Confirms the removal of a part of a product, which can be added again. */
export function RemovePart({ action, consequence, remove, onClose }: RemovePartProps) {
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();
  const confirm = () => {
    setBusy(true);
    remove()
      .catch((error: Error) => toasts.showError(error.message))
      .finally(onClose);
  };
  return (
    <ConfirmDialog
      isOpen
      tier={2}
      title={`${action}?`}
      consequence={consequence}
      action={action}
      isBusy={isBusy}
      onConfirm={confirm}
      onClose={onClose}
    />
  );
}
