import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { sharedTexts } from '../../texts/shared-texts.ts';

const own = adminTexts.webhooks;
const refreshed = ['GET /portal-api/webhooks/{webhook_id}'] as const;

interface HeaderItem {
  readonly ID: string;
  readonly Name: string;
  readonly Value: string;
}

/** Headers of deliveries; they are saved one by one. */
export function WebhookHeaders({ webhookId, headers }: { webhookId: string; headers: readonly HeaderItem[] }) {
  const [isAdding, setAdding] = useState(false);
  const remove = useWrite('DELETE /portal-api/webhooks/{webhook_id}/headers/{header_id}', refreshed);
  const toasts = useToasts();
  return (
    <Card
      title={own.headers}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.addHeader}
        </Button>
      }
    >
      {headers.length === 0 && <p className="text-dim">{own.noHeaders}</p>}
      <ul className="flex flex-col gap-1">
        {headers.map(({ ID, Name, Value }) => (
          <li key={ID} className="flex min-h-8 items-center gap-2">
            <code className="break-all">
              {Name}: {Value}
            </code>
            <IconButton
              icon={Trash2}
              label={own.deleteHeader(Name)}
              onClick={() =>
                remove.mutate(
                  { given: { params: { webhook_id: webhookId, header_id: ID } } },
                  { onError: error => toasts.showError(error.message) },
                )
              }
            />
          </li>
        ))}
      </ul>
      {isAdding && <HeaderDialog webhookId={webhookId} onClose={() => setAdding(false)} />}
    </Card>
  );
}

function HeaderDialog({ webhookId, onClose }: { webhookId: string; onClose(): void }) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  const create = useWrite('POST /portal-api/webhooks/{webhook_id}/headers', refreshed);
  return (
    <Dialog isOpen title={own.addHeader} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={event => {
          event.preventDefault();
          const given = { params: { webhook_id: webhookId }, body: { Name: name.trim(), Value: value } };
          create.mutate({ given }, { onSuccess: onClose });
        }}
      >
        <ErrorText error={create.error} />
        <TextField label={own.headerName} required value={name} onChange={event => setName(event.target.value)} />
        <TextField label={own.headerValue} required value={value} onChange={event => setValue(event.target.value)} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{sharedTexts.kit.cancel}</Button>
          <Button kind="primary" type="submit" isBusy={create.isPending}>
            {own.addHeader}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
