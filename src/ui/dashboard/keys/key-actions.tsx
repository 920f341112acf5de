import { Ellipsis, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Menu } from '../../kit/menu.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { DeleteKeyDialog } from './delete-key-dialog.tsx';
import { type KeyData, type KeyFacts, nameKey } from './key-facts.ts';
import { RotateKeyDialog } from './rotate-key-dialog.tsx';

const own = texts.keys;
const refreshed = ['GET /api/keys/detailed', 'GET /api/keys/{keyId}'] as const;
type Pending = 'delete' | 'rotate' | 'reset' | 'deactivate' | undefined;

interface KeyActionsProps {
  readonly facts: KeyFacts;
  readonly data: KeyData;
  readonly etag: string | undefined;
  onDeleted(): void;
}

/** Rotate, reset quota, deactivate, delete. */
export function KeyActions({ facts, data, etag, onDeleted }: KeyActionsProps) {
  const [pending, setPending] = useState<Pending>();
  const close = () => setPending(undefined);
  const { save, isPending } = useKeyChange(facts, data, etag, close);
  const name = nameKey(facts);
  const hasPolicies = facts.policies.length > 0;
  return (
    <>
      <Button icon={RotateCw} onClick={() => setPending('rotate')}>
        {own.rotate}
      </Button>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(name)} />}
        items={[
          { label: own.resetQuota, onSelect: () => setPending('reset') },
          facts.isInactive
            ? {
                label: own.activate,
                isDisabled: hasPolicies,
                onSelect: () => save({ is_inactive: false }, { keepsQuota: true, text: own.activated(name) }),
              }
            : { label: own.deactivate, isDisabled: hasPolicies, onSelect: () => setPending('deactivate') },
          'line',
          { label: own.delete, isDanger: true, onSelect: () => setPending('delete') },
        ]}
        heading={hasPolicies && <p className="max-w-64 text-small text-dim">{own.byPolicyState}</p>}
      />
      <ConfirmDialog
        isOpen={pending === 'reset'}
        tier={2}
        title={own.resetQuotaTitle(name)}
        consequence={own.resetQuotaConsequence}
        action={own.resetQuotaAction(name)}
        isBusy={isPending}
        onConfirm={() => save({}, { keepsQuota: false, text: own.quotaReset(name) })}
        onClose={close}
      />
      <ConfirmDialog
        isOpen={pending === 'deactivate'}
        tier={2}
        title={own.deactivateTitle(name)}
        consequence={own.deactivateConsequence}
        action={own.deactivateAction(name)}
        isBusy={isPending}
        onConfirm={() => save({ is_inactive: true }, { keepsQuota: true, text: own.deactivated(name) })}
        onClose={close}
      />
      <DeleteKeyDialog item={pending === 'delete' ? facts : undefined} onClose={close} onDeleted={onDeleted} />
      {pending === 'rotate' && <RotateKeyDialog facts={facts} onClose={close} />}
    </>
  );
}

interface ChangeOptions {
  readonly keepsQuota: boolean;
  readonly text: string;
}

/** Writes the key as it was read, with some members changed. */
function useKeyChange({ hash }: KeyFacts, data: KeyData, etag: string | undefined, onSettled: () => void) {
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('PUT /api/keys/{keyId}', refreshed);
  const save = (some: Partial<KeyData>, { keepsQuota, text }: ChangeOptions) =>
    mutate(
      {
        given: {
          params: { keyId: hash },
          query: { hashed: 'true', ...(keepsQuota ? { suppress_reset: '1' } : {}) },
          body: { ...data, ...some },
        },
        options: { wait: 'applied', ifMatch: etag },
      },
      {
        onSuccess: () => toasts.showSuccess(text),
        onError: error => toasts.showError(error.message),
        onSettled,
      },
    );
  return { save, isPending };
}
