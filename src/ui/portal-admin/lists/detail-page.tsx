import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog, type ConfirmTier } from '../../kit/dialog.tsx';
import { useToasts } from '../../kit/toast.tsx';

export interface DeleteButtonProps {
  /** Verb and object: "Delete plan Gold". */
  readonly action: string;
  readonly name: string;
  readonly tier: ConfirmTier;
  readonly consequence: ReactNode;
  /** List of the objects, opened afterwards. */
  readonly list: string;
  readonly done: string;
  readonly label: string;
  /** Field between the consequence and the confirmation. */
  readonly choice?: ReactNode;
  remove(): Promise<unknown>;
}

/** Deletes the object of a page after a confirmation, then opens its list. */
export function DeleteButton(props: DeleteButtonProps) {
  const { action, name, tier, consequence, list, done, label, choice, remove } = props;
  const [isOpen, setOpen] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const navigate = useNavigate();
  const toasts = useToasts();
  const confirm = async () => {
    setBusy(true);
    try {
      await remove();
      toasts.showSuccess(done);
      await navigate({ to: list });
    } catch (error) {
      toasts.showError(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
      setOpen(false);
    }
  };
  return (
    <>
      <Button icon={Trash2} onClick={() => setOpen(true)}>
        {label}
      </Button>
      <ConfirmDialog
        isOpen={isOpen}
        tier={tier}
        title={`${action}?`}
        consequence={consequence}
        action={action}
        name={name}
        isBusy={isBusy}
        onConfirm={() => void confirm()}
        onClose={() => setOpen(false)}
      >
        {choice}
      </ConfirmDialog>
    </>
  );
}
