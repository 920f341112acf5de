import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { CallResponse, ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { TemplateForm } from './template-form.tsx';

const own = texts.library;
const maxIdChars = 40;

export function TemplatePage() {
  const { assetId } = useParams({ from: '/shell/templates/$assetId' });
  const query = useOperation('GET /api/assets/{assetId}', { params: { assetId } });
  if (!query.data) return <QueryState query={query} />;
  const { id, name } = query.data.value;
  return (
    <PageFrame title={name} about={<IdText id={id} maxChars={maxIdChars} />} width="form">
      <TemplateEditor key={query.data.etag} stored={query.data} />
    </PageFrame>
  );
}

/** Edits one stored state: a later read has another entity tag, and starts another editor. */
function TemplateEditor({ stored: { value, etag } }: { stored: CallResponse<ResultOf<'GET /api/assets/{assetId}'>> }) {
  const toasts = useToasts();
  const canWrite = usePermission('api_assets:write');
  const { id, name, description, data } = value;
  const [fields, setFields] = useState({ id, name, description, text: JSON.stringify(data, null, 2) });
  const { mutate, error, isPending } = useWrite('PUT /api/assets/{assetId}', [
    'GET /api/assets',
    'GET /api/assets/{assetId}',
  ]);
  return (
    <TemplateForm
      isNew={false}
      canWrite={canWrite}
      fields={fields}
      onChange={some => setFields(before => ({ ...before, ...some }))}
      error={error}
      isBusy={isPending}
      onSubmit={body =>
        mutate(
          { given: { params: { assetId: id }, body }, options: { ifMatch: etag } },
          { onSuccess: () => toasts.showSuccess(own.saved(body.name)) },
        )
      }
    />
  );
}
