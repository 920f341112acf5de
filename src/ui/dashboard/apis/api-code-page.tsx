import { useBlocker, useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { useOperation } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { usePermission } from '../session/session.ts';
import { ApiHead } from './api-head.tsx';
import { toApiOutline } from './api-outline.ts';
import { ReviewDialog } from './review-dialog.tsx';
import { type StoredDefinition, useDefinitionCheck, useDefinitionSave } from './use-definition.ts';

const own = texts.apis;

/** Definition as JSON: checked by the server while it is edited, compared before it is saved. */
export function ApiCodePage() {
  const { apiId } = useParams({ from: '/shell/apis/$apiId/code' });
  const query = useOperation('GET /api/apis/{apiId}', { params: { apiId } });
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  const api = toApiOutline(value);
  const isDocument = api.format !== 'classic';
  const definition = { api, text: JSON.stringify(isDocument ? value.oas : value.api_definition, null, 2), etag };
  return (
    <ApiHead api={api}>
      <DefinitionEditor key={api.id} stored={definition} onReload={() => void query.refetch()} />
    </ApiHead>
  );
}

function DefinitionEditor({ stored, onReload }: { stored: StoredDefinition; onReload(): void }) {
  const canWrite = usePermission('apis:write');
  /** The state that the edits are based on; a later read does not replace it under the cursor. */
  const [base, setBase] = useState(stored);
  const [text, setText] = useState(stored.text);
  const [isReviewing, setReviewing] = useState(false);
  const isDirty = text !== base.text;
  useEffect(() => {
    if (isDirty) return;
    setBase(stored);
    setText(stored.text);
  }, [stored, isDirty]);
  useBlocker({ shouldBlockFn: () => isDirty && !confirm(own.leave), enableBeforeUnload: () => isDirty });
  const check = useDefinitionCheck(base.api, text, canWrite && isDirty);
  const save = useDefinitionSave(base, () => {
    setBase(before => ({ ...before, text }));
    setReviewing(false);
    onReload();
  });
  const takeStored = () => {
    setText(base.text);
    setReviewing(false);
    save.reset();
    onReload();
  };
  return (
    <div className="flex flex-col gap-3">
      <CodeEditor
        label={own.codeLabel(base.api.name)}
        value={text}
        isReadOnly={!canWrite}
        marks={check.marks}
        onChange={setText}
      />
      <ErrorText error={check.error} />
      <div className="flex flex-wrap items-center gap-2 rounded-card border border-line bg-surface px-3 py-2">
        <span role="status" className="mr-auto text-dim">
          {isDirty ? `${own.unsaved}${check.summary && `: ${check.summary}`}` : own.unchanged}
        </span>
        <Button disabled={!isDirty} onClick={() => setText(base.text)}>
          {own.discard}
        </Button>
        <Button kind="primary" disabled={!isDirty || !check.isValid} onClick={() => setReviewing(true)}>
          {own.review}
        </Button>
      </div>
      <ReviewDialog
        isOpen={isReviewing}
        before={base.text}
        after={text}
        save={save}
        onSave={force => save.run(text, force)}
        onTakeStored={takeStored}
        onClose={() => setReviewing(false)}
      />
    </div>
  );
}
