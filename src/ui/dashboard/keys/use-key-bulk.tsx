import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { keyBulkTexts } from '../../texts/en/key-bulk.ts';
import { texts } from '../../texts/texts.ts';
import { ExtendKeysDialog, KeyPoliciesDialog } from './change-keys-dialog.tsx';
import { DeleteKeyDialog, DeleteKeysDialog } from './delete-key-dialog.tsx';
import { type KeyFacts, nameKey } from './key-facts.ts';

const own = texts.keys;
type BulkDialog = 'policies' | 'expiry' | 'delete';

/** Menu of a row, the chosen rows, and the dialogs of what is done with them. */
export function useKeyBulk(rows: readonly KeyFacts[]) {
  const navigate = useNavigate();
  const [pending, setPending] = useState<KeyFacts>();
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const [dialog, setDialog] = useState<BulkDialog>();
  const close = (left: readonly string[] = []) => {
    setDialog(undefined);
    // Keys that have not changed stay selected, to be tried again.
    setIds(new Set(left));
  };
  const actionsOf = (key: KeyFacts) => [
    { label: own.open, onSelect: () => void navigate({ to: '/keys/$keyHash', params: { keyHash: key.hash } }) },
    'line' as const,
    { label: own.delete, isDanger: true, onSelect: () => setPending(key) },
  ];
  const actions = (
    <>
      <Button onClick={() => setDialog('policies')}>{keyBulkTexts.policies}</Button>
      <Button onClick={() => setDialog('expiry')}>{keyBulkTexts.expiry}</Button>
      <Button kind="danger" onClick={() => setDialog('delete')}>
        {own.deleteMany(ids.size)}
      </Button>
    </>
  );
  const nameOf = (hash: string) => nameKey(rows.find(it => it.hash === hash) ?? { alias: '', hash, id: '' });
  const changed = { hashes: [...ids], nameOf, onClose: close };
  const dialogs = (
    <>
      <DeleteKeyDialog item={pending} onClose={() => setPending(undefined)} />
      <DeleteKeysDialog hashes={dialog === 'delete' ? [...ids] : []} onClose={() => close()} />
      {dialog === 'policies' && <KeyPoliciesDialog {...changed} />}
      {dialog === 'expiry' && <ExtendKeysDialog {...changed} />}
    </>
  );
  return { actionsOf, selection: { ids, onChange: setIds, actions }, dialogs };
}
