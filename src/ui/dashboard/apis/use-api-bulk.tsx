import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { apiListTexts } from '../../texts/en/api-list.ts';
import { texts } from '../../texts/texts.ts';
import { exportApis } from './list/export-apis.ts';

const own = texts.apis.bulk;
type BulkAction = 'activate' | 'deactivate' | 'delete';
/** More APIs than this need their number typed to delete them. */
const maxTicked = 10;

/** Selected APIs of the list, and what is done with them at once. Each failure is a message. */
export function useApiBulk() {
  const toasts = useToasts();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [pending, setPending] = useState<BulkAction>();
  const { mutate, isPending } = useWrite('POST /api/bulk', ['GET /api/apis', 'GET /api/apis/categories']);
  const run = (action: BulkAction) =>
    mutate(
      { given: { body: { kind: 'apis', action, ids: [...ids] } }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value }) => {
          if (value.succeeded > 0) toasts.showSuccess(own.done[action](value.succeeded));
          const failed = value.results.filter(({ status }) => status >= 300);
          for (const { id, message } of failed) toasts.showError(`${id}: ${message}`);
          // Failed ones stay selected, to be tried again.
          setIds(new Set(failed.map(({ id }) => id)));
        },
        onError: error => toasts.showError(error.message),
        onSettled: () => setPending(undefined),
      },
    );
  const actions = (
    <>
      <Button isBusy={isPending} onClick={() => run('activate')}>
        {own.actions.activate(ids.size)}
      </Button>
      <Button onClick={() => void exportApis([...ids]).catch((error: Error) => toasts.showError(error.message))}>
        {apiListTexts.exportSelected(ids.size)}
      </Button>
      <Button onClick={() => setPending('deactivate')}>{own.actions.deactivate(ids.size)}</Button>
      <Button kind="danger" onClick={() => setPending('delete')}>
        {own.actions.delete(ids.size)}
      </Button>
    </>
  );
  const dialog = pending !== undefined && pending !== 'activate' && (
    <ConfirmDialog
      isOpen
      tier={pending === 'deactivate' ? 2 : ids.size > maxTicked ? 4 : 3}
      canRestore
      name={String(ids.size)}
      title={`${own.actions[pending](ids.size)}?`}
      consequence={own.consequences[pending]}
      action={own.actions[pending](ids.size)}
      isBusy={isPending}
      onConfirm={() => run(pending)}
      onClose={() => setPending(undefined)}
    />
  );
  return { selection: { ids, onChange: setIds, actions }, dialog };
}
