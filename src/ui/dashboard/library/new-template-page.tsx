import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { callServer } from '../../kit/calls.ts';
import { SelectField } from '../../kit/field.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { toApiOutline } from '../apis/api-outline.ts';
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
  const [apiId, setApiId] = useState('');
  const list = useOperation('GET /api/apis', { query: { sort: 'name', format: 'oas' } });
  const toasts = useToasts();
  const choose = (next: string) => {
    setApiId(next);
    if (next === '') return onText(emptyText);
    callServer('GET /api/apis/oas/{apiId}', { params: { apiId: next } } as never).then(
      ({ value }) => onText(JSON.stringify(toTemplate(value), null, 2)),
      (error: Error) => toasts.showError(error.message),
    );
  };
  const apis = (list.data?.value.apis ?? []).map(toApiOutline);
  return (
    <div className="max-w-[480px]">
      <SelectField
        label={own.from}
        help={own.fromHelp}
        value={apiId}
        onChange={event => choose(event.target.value)}
        options={[
          { value: '', label: own.fromNone },
          ...apis.map(({ id, name }) => ({ value: id, label: name || id })),
        ]}
      />
    </div>
  );
}
