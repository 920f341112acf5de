import { useParams } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { CallResponse, ResultOf } from '../../kit/calls.ts';
import { IdText } from '../../kit/copy.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { HistoryLink } from '../history/history-link.tsx';
import { usePermission } from '../session/session.ts';
import { type TemplateBody, TemplateForm } from './template-form.tsx';

const own = texts.library;
const maxIdChars = 40;
const templateReads = ['GET /api/assets', 'GET /api/assets/{assetId}'] as const;

type Template = ResultOf<'GET /api/assets/{assetId}'>;
const toFields = ({ id, name, description, data }: Template) => ({
  id,
  name,
  description,
  text: JSON.stringify(data, null, 2),
});

export function TemplatePage() {
  const { assetId } = useParams({ from: '/shell/templates/$assetId' });
  const query = useOperation('GET /api/assets/{assetId}', { params: { assetId } });
  if (!query.data) return <QueryState query={query} />;
  const { id, name } = query.data.value;
  return (
    <PageFrame
      title={name}
      about={<IdText id={id} maxChars={maxIdChars} />}
      width="form"
      actions={<HistoryLink kind="assets" id={assetId} name={name} />}
    >
      <TemplateEditor key={id} stored={query.data} />
    </PageFrame>
  );
}

/** A later read replaces the fields only while they have no edits. */
function TemplateEditor({ stored: { value, etag } }: { stored: CallResponse<Template> }) {
  const toasts = useToasts();
  const canWrite = usePermission('api_assets:write');
  const draft = useDraft(
    useMemo(() => toFields(value), [value]),
    etag,
  );
  const { mutate, error, isPending, reset } = useWrite('PUT /api/assets/{assetId}', templateReads);
  const save = (body: TemplateBody, isForced: boolean) =>
    mutate(
      { given: { params: { assetId: value.id }, body }, options: { ifMatch: isForced ? undefined : draft.etag } },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(body.name));
        },
      },
    );
  const [sent, setSent] = useState<TemplateBody>();
  return (
    <>
      <TemplateForm
        isNew={false}
        canWrite={canWrite}
        fields={draft.value}
        onChange={draft.change}
        error={isConflict(error) ? null : error}
        isBusy={isPending}
        onSubmit={body => {
          setSent(body);
          save(body, false);
        }}
      />
      <ConflictDialog
        error={error}
        draft={draft}
        reads={templateReads}
        onClose={reset}
        onOverwrite={() => sent && save(sent, true)}
      />
    </>
  );
}
