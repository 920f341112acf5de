import { useState } from 'react';
import { type BulkFailure, BulkResultDialog } from '../../kit/bulk-result-dialog.tsx';
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

interface FailedAction {
  readonly action: BulkAction;
  readonly failures: readonly BulkFailure[];
}

/** Selected APIs of the list, and what is done with them at once. Failures are listed, to be tried again. */
export function useApiBulk(nameOf: (id: string) => string) {
  const toasts = useToasts();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [pending, setPending] = useState<BulkAction>();
  const [failed, setFailed] = useState<FailedAction>();
  const { mutate, isPending } = useWrite('POST /api/bulk', ['GET /api/apis', 'GET /api/apis/categories']);
  const run = (action: BulkAction, chosen: readonly string[] = [...ids]) =>
    mutate(
      { given: { body: { kind: 'apis', action, ids: [...chosen] } }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value }) => {
          if (value.succeeded > 0) toasts.showSuccess(own.done[action](value.succeeded));
          const failures = value.results.filter(({ status }) => status >= 300);
          setFailed(failures.length > 0 ? { action, failures } : undefined);
          // Failed ones stay selected, to be tried again.
          setIds(new Set(failures.map(({ id }) => id)));
        },
        onError: error => toasts.showError(error.message),
        onSettled: () => setPending(undefined),
      },
    );
  const actions = <BulkButtons ids={ids} isBusy={isPending} onActivate={() => run('activate')} onAsk={setPending} />;
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
  const result = failed && (
    <BulkResultDialog
      title={apiListTexts.failedTitle(failed.failures.length)}
      about={apiListTexts.failedAbout}
      failures={failed.failures}
      nameOf={nameOf}
      isBusy={isPending}
      onRetry={chosen => run(failed.action, chosen)}
      onClose={() => setFailed(undefined)}
    />
  );
  return { selection: { ids, onChange: setIds, actions }, dialog: dialog || result };
}

interface BulkButtonsProps {
  readonly ids: ReadonlySet<string>;
  readonly isBusy: boolean;
  onActivate(): void;
  onAsk(action: BulkAction): void;
}

function BulkButtons({ ids, isBusy, onActivate, onAsk }: BulkButtonsProps) {
  const toasts = useToasts();
  return (
    <>
      <Button isBusy={isBusy} onClick={onActivate}>
        {own.actions.activate(ids.size)}
      </Button>
      <Button onClick={() => void exportApis([...ids]).catch((error: Error) => toasts.showError(error.message))}>
        {apiListTexts.exportSelected(ids.size)}
      </Button>
      <Button onClick={() => onAsk('deactivate')}>{own.actions.deactivate(ids.size)}</Button>
      <Button kind="danger" onClick={() => onAsk('delete')}>
        {own.actions.delete(ids.size)}
      </Button>
    </>
  );
}
