import { Send } from 'lucide-react';
import { useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { SelectField } from '../../kit/field.tsx';
import { formatMs } from '../../kit/format.ts';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { PortalEventName } from './event-choice.tsx';

const own = adminTexts.webhookDeliveries;

interface WebhookTestProps {
  readonly webhookId: string;
  readonly events: readonly PortalEventName[];
}

/** Sends a sample of an event to the stored webhook, and shows request and result. */
export function WebhookTest({ webhookId, events }: WebhookTestProps) {
  const [isOpen, setOpen] = useState(false);
  const [event, setEvent] = useState<PortalEventName>(events[0] ?? 'UserRegistered');
  const { mutate, data, error, isPending, reset } = useWrite('PUT /portal-api/webhooks/{webhook_id}/test');
  const result = data?.value;
  const close = () => {
    setOpen(false);
    reset();
  };
  return (
    <>
      <Button icon={Send} onClick={() => setOpen(true)}>
        {own.test}
      </Button>
      <Dialog
        isOpen={isOpen}
        onClose={close}
        width="wide"
        title={own.test}
        about={own.testAbout}
        footer={
          <Button
            kind="primary"
            isBusy={isPending}
            onClick={() => mutate({ given: { params: { webhook_id: webhookId }, query: { event } } })}
          >
            {own.send}
          </Button>
        }
      >
        <div className="flex flex-col gap-4">
          <ErrorText error={error} />
          <SelectField
            label={own.columns.event}
            value={event}
            options={events.map(value => ({ value, label: value }))}
            onChange={it => setEvent(it.target.value as PortalEventName)}
          />
          {result && (
            <>
              <p>
                <StatusPill tone={result.Delivered ? 'success' : 'danger'}>
                  {result.Delivered
                    ? own.delivered(result.Status, formatMs(result.DurationMs))
                    : own.failed(result.Error)}
                </StatusPill>
              </p>
              <BodyText label={own.body} text={result.Body || own.noBody} />
            </>
          )}
        </div>
      </Dialog>
    </>
  );
}
