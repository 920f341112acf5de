import { useNavigate } from '@tanstack/react-router';
import { Button } from '../../../kit/button.tsx';
import { toBodyOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { useWrite } from '../../../kit/queries.ts';
import { ErrorText } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { importApiTexts } from '../../../texts/en/import-api.ts';
import { texts } from '../../../texts/texts.ts';
import { describeApplied } from '../applied.ts';
import type { FormObject } from '../form/json-members.ts';
import { readTitle } from './import-options.ts';

const own = importApiTexts;

/** A description of message channels: created as a streams API, as it is. */
export function StreamsCard({ document, format }: { document: FormObject; format: string }) {
  const toasts = useToasts();
  const navigate = useNavigate();
  const create = useWrite('POST /api/apis/streams', ['GET /api/apis']);
  const name = readTitle(document);
  const submit = () =>
    create.mutate(
      { given: { body: toBodyOf<'POST /api/apis/streams'>(document) }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value, headers }) => {
          toasts.showSuccess(`${texts.apis.created(name)}. ${describeApplied(headers)}`);
          void navigate({ to: '/apis/$apiId', params: { apiId: (value as { ID: string }).ID } });
        },
      },
    );
  return (
    <Card title={own.recognised(format, name)}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">{own.streamsAbout}</p>
        <ErrorText error={create.error} />
        <div>
          <Button kind="primary" isBusy={create.isPending} onClick={submit}>
            {texts.apis.createAction}
          </Button>
        </div>
      </div>
    </Card>
  );
}
