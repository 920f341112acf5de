import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { ChoiceCards } from '../../kit/choice-cards.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiFields, useApiForm } from '../apis/api-form.tsx';
import { buildDocument, toListenPath } from '../apis/new-api.ts';
import { ManagementCalls } from './management-calls.tsx';
import { buildSample } from './sample-api.ts';

const own = texts.welcome;
type Source = 'sample' | 'upstream';

/** Name of a further sample: an installation may have one already. */
const sampleNames = (taken: number) => (taken === 0 ? own.sampleName : `${own.sampleName} ${taken + 1}`);

/** Publishes a sample, or an upstream of the user. */
export function ApiStep({ apiCount, onCreated }: { apiCount: number; onCreated(apiId: string): void }) {
  const [source, setSource] = useState<Source>('sample');
  const form = useApiForm();
  const { mutate, error, isPending } = useWrite('POST /api/apis/oas', ['GET /api/apis']);
  const name = sampleNames(apiCount);
  const body =
    source === 'sample'
      ? buildSample({ name, listenPath: toListenPath(name), isProtected: true })
      : buildDocument(form.api);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (source === 'upstream' && !form.check()) return;
    mutate({ given: { body }, options: { wait: 'applied' } }, { onSuccess: ({ value }) => onCreated(value.ID) });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <ChoiceCards
        label={own.source}
        value={source}
        onChange={next => setSource(next)}
        choices={[
          { value: 'sample', title: own.sample, about: own.sampleAbout },
          { value: 'upstream', title: own.upstream, about: own.upstreamAbout },
        ]}
      />
      {source === 'upstream' && <ApiFields form={form} />}
      <ErrorText error={error} />
      <div>
        <Button kind="primary" type="submit" isBusy={isPending}>
          {own.create}
        </Button>
      </div>
      <ManagementCalls requests={[{ method: 'POST', url: '/api/apis/oas', body }]} />
    </form>
  );
}
