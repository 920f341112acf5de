import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callServer } from '../../kit/calls.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import type { PickItem } from '../../kit/pick-list.tsx';
import { useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { ApiPicker } from '../pickers/api-picker.tsx';
import { usePermission } from '../session/session.ts';
import { toTemplate } from './template-document.ts';
import { type TemplateFields, TemplateForm } from './template-form.tsx';

const own = texts.library;
const emptyText = JSON.stringify({ 'x-gw-api-gateway': {} }, null, 2);

export function NewTemplatePage() {
  const navigate = useNavigate();
  const toasts = useToasts();
  const canReadApis = usePermission('apis');
  const [fields, setFields] = useState<TemplateFields>({ id: '', name: '', description: '', text: emptyText });
  const { mutate, error, isPending } = useWrite('POST /api/assets', ['GET /api/assets']);
  const change = (some: Partial<TemplateFields>) => setFields(before => ({ ...before, ...some }));
  return (
    <PageFrame title={own.newTemplate} width="form">
      <div className="flex flex-col gap-4">
        {canReadApis && <SourceSelect onText={text => change({ text })} />}
        <TemplateForm
          isNew
          canWrite
          fields={fields}
          onChange={change}
          error={error}
          isBusy={isPending}
          onSubmit={body =>
            mutate(
              { given: { body } },
              {
                onSuccess: ({ value }) => {
                  toasts.showSuccess(own.created(body.name));
                  void navigate({ to: '/templates/$assetId', params: { assetId: value.ID } });
                },
              },
            )
          }
        />
      </div>
    </PageFrame>
  );
}

/** Fills the document from an API in the OpenAPI format. */
function SourceSelect({ onText }: { onText(text: string): void }) {
  const [chosen, setChosen] = useState<readonly PickItem[]>([]);
  const toasts = useToasts();
  const choose = (items: readonly PickItem[]) => {
    const next = items.slice(-1);
    setChosen(next);
    const apiId = next[0]?.id;
    if (apiId === undefined) return onText(emptyText);
    callServer('GET /api/apis/oas/{apiId}', { params: { apiId } }).then(
      ({ value }) => onText(JSON.stringify(toTemplate(value), null, 2)),
      (error: Error) => toasts.showError(error.message),
    );
  };
  return (
    <div className="flex max-w-[480px] flex-col gap-1">
      <ApiPicker title={own.from} format="oas" chosen={chosen} onChange={choose} />
      <p className="text-small text-dim">{own.fromHelp}</p>
    </div>
  );
}
