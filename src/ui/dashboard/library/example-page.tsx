import { useNavigate } from '@tanstack/react-router';
import { BookOpen } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button, buttonClass } from '../../kit/button.tsx';
import { type ResultOf, toBodyOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, Notice, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';

const own = texts.library;
type Example = ResultOf<'GET /api/examples/{location}'>;

/** Example APIs of the configured index. */
export function ExamplePage() {
  const list = useOperation('GET /api/examples', {});
  const [opened, setOpened] = useState<string>();
  return (
    <PageFrame title={own.examples}>
      {!list.data ? (
        <QueryState query={list} />
      ) : list.data.value.length === 0 ? (
        <Notice
          icon={BookOpen}
          title={own.examplesEmpty}
          action={
            <a href="/guides/importing" className={buttonClass()}>
              {own.examplesGuide}
            </a>
          }
        >
          {own.examplesEmptyAbout}
        </Notice>
      ) : (
        <div className="grid gap-4 min-[700px]:grid-cols-2 min-[1200px]:grid-cols-3">
          {list.data.value.map(({ location, name, shortDescription }) => (
            <Card key={location} title={name}>
              <div className="flex flex-col items-start gap-3">
                <p className="break-words text-dim">{shortDescription}</p>
                <Button onClick={() => setOpened(location)} aria-label={`${own.showExample} ${name}`}>
                  {own.showExample}
                </Button>
              </div>
            </Card>
          ))}
        </div>
      )}
      {opened !== undefined && <ExampleDialog location={opened} onClose={() => setOpened(undefined)} />}
    </PageFrame>
  );
}

function ExampleDialog({ location, onClose }: { location: string; onClose(): void }) {
  const query = useOperation('GET /api/examples/{location}', {
    params: { location },
    query: { readme: '1', apiDef: '1' },
  });
  const example = query.data?.value;
  return (
    <Dialog
      isOpen
      onClose={onClose}
      width="wide"
      title={example?.name ?? own.examples}
      footer={example && <CopyExample example={example} />}
    >
      {example ? <ExampleText example={example} /> : <QueryState query={query} />}
    </Dialog>
  );
}

/** Text of other people: shown as text, never as markup. */
const ExampleText = ({ example: { description, features, readme } }: { example: Example }) => (
  <div className="flex flex-col gap-4">
    <p>{description}</p>
    {features.length > 0 && (
      <ul aria-label={own.features} className="flex flex-wrap gap-1">
        {features.map(feature => (
          <li key={feature}>
            <Badge>{feature}</Badge>
          </li>
        ))}
      </ul>
    )}
    {readme && <pre className="font-mono text-small break-words whitespace-pre-wrap">{readme}</pre>}
  </div>
);

const refreshed = ['GET /api/apis'] as const;

function CopyExample({ example: { name, oas, api_definition } }: { example: Example }) {
  const canWrite = usePermission('apis:write');
  const navigate = useNavigate();
  const toasts = useToasts();
  const document = useWrite('POST /api/apis/oas', refreshed);
  const classic = useWrite('POST /api/apis', refreshed);
  const open = (apiId: string) => {
    toasts.showSuccess(own.copyCreated(name));
    void navigate({ to: '/apis/$apiId', params: { apiId } });
  };
  const copy = () => {
    const options = { wait: 'applied' } as const;
    if (oas)
      document.mutate(
        { given: { body: toBodyOf<'POST /api/apis/oas'>(oas) }, options },
        { onSuccess: it => open(it.value.ID) },
      );
    else
      classic.mutate(
        { given: { body: toBodyOf<'POST /api/apis'>({ api_definition }) }, options },
        { onSuccess: it => open(it.value.ID) },
      );
  };
  if (!canWrite) return null;
  if (!oas && !api_definition) return <p className="text-dim">{own.noDefinition}</p>;
  return (
    <div className="flex w-full flex-col gap-2">
      <ErrorText error={document.error ?? classic.error} />
      <Button kind="primary" className="self-end" isBusy={document.isPending || classic.isPending} onClick={copy}>
        {own.tryIt}
      </Button>
    </div>
  );
}
