import { useNavigate, useParams } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useMemo, useState } from 'react';
import { StatusPill } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import { toBodyOf } from '../../kit/calls.ts';
import { Card, FactList } from '../../kit/card.tsx';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { CopyButton, IdText } from '../../kit/copy.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { Menu } from '../../kit/menu.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText, QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { useDraft } from '../../kit/use-draft.ts';
import { mcpTexts } from '../../texts/en/mcp.ts';
import { texts } from '../../texts/texts.ts';
import { ConflictDialog, isConflict } from '../forms/conflict-dialog.tsx';
import { parseDocument } from '../library/template-document.ts';
import { usePermission } from '../session/session.ts';
import { UpstreamText } from './mcp-list-page.tsx';
import { type McpOutline, toMcpOutline } from './mcp-outline.ts';
import { ToolRules } from './tool-rules.tsx';

const own = mcpTexts;
const maxIdChars = 40;
export const mcpReads = ['GET /api/mcps', 'GET /api/mcps/{apiId}'] as const;

/** One MCP proxy: facts, tools with their rules, definition. */
export function McpPage() {
  const { apiId } = useParams({ from: '/shell/mcp-proxies/$apiId' });
  const canWrite = usePermission('mcp:write');
  const canReadApis = usePermission('apis');
  const query = useOperation('GET /api/mcps/{apiId}', { params: { apiId }, query: {} });
  const url = useOperation('GET /api/apis/{apiId}/url', { params: { apiId } }, { enabled: canReadApis });
  if (!query.data) return <QueryState query={query} />;
  const { value: document, etag } = query.data;
  const api = toMcpOutline(document);
  const address = url.data?.value.ApiURL;
  return (
    <PageFrame
      title={api.name || api.id}
      status={
        <StatusPill tone={api.isActive ? 'success' : 'neutral'}>{api.isActive ? own.active : own.inactive}</StatusPill>
      }
      actions={canWrite && <McpMenu api={api} />}
    >
      <div className="flex flex-col gap-4">
        <Card title={own.facts}>
          <FactList
            rows={[
              [own.id, <IdText key="id" id={api.id} maxChars={maxIdChars} />],
              [own.columns.upstream, <UpstreamText key="upstream" api={api} />],
              [own.columns.path, api.listenPath],
              ...(address === undefined ? [] : [[own.address, <Address key="url" address={address} />] as const]),
            ]}
          />
        </Card>
        <ToolRules api={api} document={document} etag={etag} address={address} canWrite={canWrite} />
        <DefinitionCard key={apiId} api={api} document={document} etag={etag} canWrite={canWrite} />
      </div>
    </PageFrame>
  );
}

const Address = ({ address }: { address: string }) => (
  <span className="inline-flex items-center gap-1">
    <code className="font-mono break-all">{address}</code>
    <CopyButton text={address} />
  </span>
);

function McpMenu({ api: { id, name } }: { api: McpOutline }) {
  const [isDeleting, setDeleting] = useState(false);
  const navigate = useNavigate();
  const toasts = useToasts();
  const { mutate, isPending } = useWrite('DELETE /api/mcps/{apiId}', ['GET /api/mcps']);
  const remove = () =>
    mutate(
      { given: { params: { apiId: id }, query: {} }, options: { wait: 'applied' } },
      {
        onSuccess: () => {
          toasts.showSuccess(own.deleted(name));
          void navigate({ to: '/mcp-proxies' });
        },
        onError: error => toasts.showError(error.message),
        onSettled: () => setDeleting(false),
      },
    );
  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(name)} />}
        items={[{ label: own.delete, isDanger: true, onSelect: () => setDeleting(true) }]}
      />
      <ConfirmDialog
        isOpen={isDeleting}
        tier={3}
        canRestore
        title={own.deleteTitle(name)}
        consequence={own.deleteAbout}
        action={own.deleteAction(name)}
        isBusy={isPending}
        onConfirm={remove}
        onClose={() => setDeleting(false)}
      />
    </>
  );
}

interface DefinitionCardProps {
  readonly api: McpOutline;
  readonly document: unknown;
  readonly etag: string | undefined;
  readonly canWrite: boolean;
}

/** The document as JSON; a later read replaces it only while it has no edits. */
function DefinitionCard({ api, document, etag, canWrite }: DefinitionCardProps) {
  const stored = useMemo(() => ({ text: JSON.stringify(document, null, 2) }), [document]);
  const draft = useDraft(stored, etag);
  const [fault, setFault] = useState<Error>();
  const toasts = useToasts();
  const { mutate, error, isPending, reset } = useWrite('PUT /api/mcps/{apiId}', mcpReads);
  const save = (isForced: boolean) => {
    const parsed = parseDocument(draft.value.text);
    if ('error' in parsed) return setFault(new Error(texts.library.notJson(parsed.error)));
    setFault(undefined);
    mutate(
      {
        given: { params: { apiId: api.id }, body: toBodyOf<'PUT /api/mcps/{apiId}'>(parsed.value) },
        options: { ifMatch: isForced ? undefined : draft.etag, wait: 'applied' },
      },
      {
        onSuccess: () => {
          draft.accept();
          toasts.showSuccess(own.saved(api.name));
        },
      },
    );
  };
  return (
    <Card title={own.definition}>
      <div className="flex flex-col gap-3">
        <CodeEditor
          label={own.definitionLabel(api.name)}
          value={draft.value.text}
          isReadOnly={!canWrite}
          onChange={text => draft.change({ text })}
        />
        <ErrorText error={fault ?? (isConflict(error) ? null : error)} />
        {canWrite && (
          <Button className="self-end" disabled={!draft.isDirty} isBusy={isPending} onClick={() => save(false)}>
            {own.save}
          </Button>
        )}
      </div>
      <ConflictDialog error={error} draft={draft} reads={mcpReads} onClose={reset} onOverwrite={() => save(true)} />
    </Card>
  );
}
