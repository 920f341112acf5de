import { useState } from 'react';
import { BodyText } from '../../kit/body-text.tsx';
import { Button } from '../../kit/button.tsx';
import { FilterSelect } from '../../kit/field.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { eventOptions, type SampleEvent } from './event-options.ts';

const own = webhookTexts;

/** Body of the template for an event with sample data; nothing is sent. */
export function TemplatePreview({ template }: { template: string }) {
  const [event, setEvent] = useState<SampleEvent>('AuthFailure');
  const { mutate, data, error, isPending } = useWrite('POST /api/hooks/preview');
  const fault = data?.value.error ? new Error(own.previewFault(data.value.error)) : error;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap gap-2">
        <FilterSelect
          label={own.previewEvent}
          value={event}
          onChange={it => setEvent(it.target.value as SampleEvent)}
          options={eventOptions}
        />
        <Button isBusy={isPending} onClick={() => mutate({ given: { body: { template_path: template, event } } })}>
          {own.previewAction}
        </Button>
      </div>
      <ErrorText error={fault} />
      {data && !fault && <BodyText label={own.preview} text={data.value.body} />}
    </div>
  );
}
