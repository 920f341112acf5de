import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { type KeyFacts, nameKey } from './key-facts.ts';

const own = texts.keys;
const refreshed = ['GET /api/keys/detailed'] as const;

interface DeleteKeyProps {
  readonly item: KeyFacts | undefined;
  onClose(): void;
  onDeleted?(): void;
}

export function DeleteKeyDialog({ item, onClose, onDeleted }: DeleteKeyProps) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/keys/{keyId}', refreshed);
  const name = item ? nameKey(item) : '';
  const remove = () =>
    item &&
    mutate(
      { given: { params: { keyId: item.hash }, query: { hashed: 'true' } }, options: { wait: 'applied' } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.deleted(name));
          onDeleted?.();
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={item !== undefined}
      tier={3}
      title={own.deleteTitle(name)}
      consequence={own.deleteConsequence}
      action={own.deleteAction(name)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

/** More keys than this need their number typed. */
const maxTicked = 10;

/** Deletes chosen keys, each by itself; failures are listed. */
export function DeleteKeysDialog({ hashes, onClose }: { hashes: readonly string[]; onClose(): void }) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('POST /api/bulk', refreshed);
  const remove = () =>
    mutate(
      { given: { body: { kind: 'keys', action: 'delete', ids: [...hashes] } } },
      {
        onSuccess: ({ value }) => {
          if (value.succeeded > 0) toasts.showSuccess(own.deletedMany(value.succeeded));
          for (const { id, message, status } of value.results) if (status >= 300) toasts.showError(`${id}: ${message}`);
        },
        onError: error => toasts.showError(error.message),
        onSettled: onClose,
      },
    );
  return (
    <ConfirmDialog
      isOpen={hashes.length > 0}
      tier={hashes.length > maxTicked ? 4 : 3}
      name={String(hashes.length)}
      title={own.deleteManyTitle(hashes.length)}
      consequence={own.deleteManyConsequence}
      action={own.deleteMany(hashes.length)}
      isBusy={isPending}
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
