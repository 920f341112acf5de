import { useState } from 'react';
import { Card } from '../../kit/card.tsx';
import { type PickItem, PickList } from '../../kit/pick-list.tsx';
import { useOperation } from '../../kit/queries.ts';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';
import { describeUser, useUserItems } from '../lists/reference-items.ts';

const own = adminTexts.apps;

/** Owner of an app, whose number is `UserID` of the draft: a user that the server finds by name or address. */
export function OwnerCard({ draft: { value, change } }: { draft: Draft<RecordValue> }) {
  const [known, setKnown] = useState<PickItem>();
  const user_id = String(value.UserID ?? '');
  const stored = useOperation(
    'GET /portal-api/users/{user_id}',
    { params: { user_id } },
    { enabled: user_id !== '' && known?.id !== user_id },
  ).data?.value;
  const name = known?.id === user_id ? known.name : stored ? describeUser(stored) : own.userOf(Number(user_id));
  return (
    <Card title={own.columns.owner}>
      <p className="mb-3 text-dim">{own.ownerHelp}</p>
      <PickList
        isSingle
        title={own.columns.owner}
        searchLabel={own.searchOwner}
        empty={own.noUsers}
        chosen={user_id === '' ? [] : [{ id: user_id, name }]}
        useItems={useUserItems}
        onChange={([chosen]) => {
          setKnown(chosen);
          change({ UserID: chosen ? Number(chosen.id) : '' });
        }}
      />
    </Card>
  );
}
