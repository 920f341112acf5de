import { type FormEvent, useState } from 'react';
import { Button } from '../../kit/button.tsx';
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
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-dim">{own.source}</legend>
        <div className="grid gap-3 min-[600px]:grid-cols-2">
          <SourceCard source="sample" chosen={source} onChoose={setSource} title={own.sample} about={own.sampleAbout} />
          <SourceCard
            source="upstream"
            chosen={source}
            onChoose={setSource}
            title={own.upstream}
            about={own.upstreamAbout}
          />
        </div>
      </fieldset>
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

interface SourceCardProps {
  readonly source: Source;
  readonly chosen: Source;
  onChoose(source: Source): void;
  readonly title: string;
  readonly about: string;
}

const card =
  'flex items-start gap-3 rounded-card border border-edge p-3 has-checked:border-accent has-checked:bg-accent-soft';

const SourceCard = ({ source, chosen, onChoose, title, about }: SourceCardProps) => (
  <label className={card}>
    <input
      type="radio"
      name="source"
      className="mt-0.5 size-4 accent-accent"
      checked={source === chosen}
      onChange={() => onChoose(source)}
    />
    <span className="flex flex-col">
      <span className="font-medium">{title}</span>
      <span className="text-small text-dim">{about}</span>
    </span>
  </label>
);
