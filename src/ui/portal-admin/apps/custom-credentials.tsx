import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import type { ResultOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { CustomCredentialDialog, customCredentialReads } from './custom-credential-dialog.tsx';

const own = adminTexts.customCredentials;
const maxShown = 1000;

type CustomCredential = ResultOf<'GET /portal-api/apps/{app_id}/custom_credentials'>[number];

/** Credentials that administrators added to an app; keys and secrets are read one by one. */
export function CustomCredentials({ appId }: { appId: number }) {
  const params = { app_id: String(appId) };
  const query = { page: 1, per_page: maxShown };
  const list = useOperation('GET /portal-api/apps/{app_id}/custom_credentials', { params, query });
  const remove = useWrite('DELETE /portal-api/apps/{app_id}/custom_credentials/{credential_id}', customCredentialReads);
  const toasts = useToasts();
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<CustomCredential>();
  const confirm = (it: CustomCredential) =>
    remove.mutate(
      { given: { params: { ...params, credential_id: String(it.ID) } } },
      {
        onSuccess: () => toasts.showSuccess(own.removed),
        onError: error => toasts.showError(error.message),
        onSettled: () => setRemoved(undefined),
      },
    );
  return (
    <Card title={own.title} action={<Button onClick={() => setAdding(true)}>{own.add}</Button>}>
      {!list.data && <QueryState query={list} />}
      {list.data?.value.length === 0 && <p className="text-dim">{own.none}</p>}
      <ul className="flex flex-col gap-6">
        {list.data?.value.map(it => (
          <CredentialItem key={it.ID} appId={appId} credential={it} onRemove={() => setRemoved(it)} />
        ))}
      </ul>
      {isAdding && <CustomCredentialDialog appId={appId} onClose={() => setAdding(false)} />}
      {removed && (
        <ConfirmDialog
          isOpen
          tier={3}
          title={own.removeTitle(removed.Alias)}
          consequence={own.removeConsequence}
          action={own.remove(removed.Alias)}
          isBusy={remove.isPending}
          onConfirm={() => confirm(removed)}
          onClose={() => setRemoved(undefined)}
        />
      )}
    </Card>
  );
}

interface CredentialItemProps {
  readonly appId: number;
  readonly credential: CustomCredential;
  onRemove(): void;
}

function CredentialItem({ appId, credential: { ID, Alias, Type, CreatedAt }, onRemove }: CredentialItemProps) {
  const [isShown, setShown] = useState(false);
  const params = { app_id: String(appId), credential_id: String(ID) };
  const route = 'GET /portal-api/apps/{app_id}/custom_credentials/{credential_id}';
  const read = useOperation(route, { params }, { enabled: isShown });
  const { KeyID = '', CredentialKey = '', CredentialSecret = '' } = read.data?.value ?? {};
  const secrets = [
    [own.key, KeyID],
    [own.key, CredentialKey],
    [own.secret, CredentialSecret],
  ] as const;
  return (
    <li className="flex flex-col gap-2">
      <h3 className="font-medium break-all">{Alias}</h3>
      <FactList
        rows={[
          [own.kind, own.types[Type]],
          [own.created, CreatedAt],
          ...secrets
            .filter(([, text]) => text !== '')
            .map(([label, text]) => [label, <SecretText key={label} secret={text} />] as const),
        ]}
      />
      {isShown && !read.data && <QueryState query={read} />}
      <div className="flex flex-wrap gap-2">
        {!isShown && <Button onClick={() => setShown(true)}>{own.show(Alias)}</Button>}
        <Button onClick={onRemove}>{own.remove(Alias)}</Button>
      </div>
    </li>
  );
}
