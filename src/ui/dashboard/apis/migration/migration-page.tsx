import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button, buttonClass } from '../../../kit/button.tsx';
import { callServer, type ResultOf } from '../../../kit/calls.ts';
import { Card } from '../../../kit/card.tsx';
import { CodeDiff } from '../../../kit/code-editor.tsx';
import { ConfirmDialog } from '../../../kit/dialog.tsx';
import { useOperation, useWrite } from '../../../kit/queries.ts';
import { ErrorText, QueryState } from '../../../kit/states.tsx';
import { useToasts } from '../../../kit/toast.tsx';
import { texts } from '../../../texts/texts.ts';
import { ApiFrame, type LoadedApi } from '../api-frame.tsx';
import type { ApiOutline } from '../api-outline.ts';

const own = texts.migration;
type MigrationResult = ResultOf<'POST /api/apis/migrate'>;

/** Reason for which the API was not migrated, in the words of the server. */
function findRefusal({ failure, skipped }: MigrationResult): Error | undefined {
  const message = failure.errors[0]?.message.join('; ') ?? skipped.apis[0]?.message;
  return message === undefined ? undefined : new Error(message);
}

/** A classic API as the document it becomes; then a staged copy, and its promotion. */
export const ApiMigrationPage = () => <ApiFrame>{loaded => <Migration key={loaded.api.id} {...loaded} />}</ApiFrame>;

function Migration({ api, stored }: LoadedApi) {
  const preview = useQuery({
    queryKey: ['POST /api/apis/migrate', 'dryRun', api.id],
    queryFn: async ({ signal }) =>
      (await callServer('POST /api/apis/migrate', { body: { mode: 'dryRun', apiIDs: [api.id] } }, { signal })).value,
  });
  if (!preview.data) return <QueryState query={preview} />;
  const refusal = findRefusal(preview.data);
  if (refusal) return <ErrorText error={refusal} />;
  const { definitions = [], unconverted = [] } = preview.data.success;
  const document = definitions[0];
  const members = unconverted.flatMap(it => it.members);
  return (
    <div className="flex flex-col gap-4">
      <Card title={own.title}>
        <div className="flex flex-col gap-3">
          <p className="max-w-prose text-dim">{own.about}</p>
          {document && document.versions.length > 0 && <p>{own.versions(document.versions.length)}</p>}
          {members.length > 0 && (
            <p>
              {own.unconverted}: <code className="font-mono break-all">{members.join(', ')}</code>
            </p>
          )}
          <MigrationActions api={api} />
        </div>
      </Card>
      <CodeDiff label={own.diffLabel} before={stored.text} after={JSON.stringify(document?.baseAPI, null, 2)} />
    </div>
  );
}

const refreshed = ['GET /api/apis', 'GET /api/apis/{apiId}', 'GET /api/apis/{apiId}/status'] as const;

/** Runs a mode of the migration for this API; a refusal of the server is an error. */
function useMigration(api: ApiOutline) {
  const [refusal, setRefusal] = useState<Error>();
  const migrate = useWrite('POST /api/apis/migrate', refreshed);
  const run = (mode: 'stage' | 'promote', onDone: (result: MigrationResult) => void) => {
    const more = mode === 'stage' ? { overrideStaged: true } : {};
    migrate.mutate(
      { given: { body: { mode, apiIDs: [api.id], ...more } }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value }) => {
          const found = findRefusal(value);
          setRefusal(found);
          if (!found) onDone(value);
        },
      },
    );
  };
  return { run, error: refusal ?? migrate.error, isPending: migrate.isPending };
}

function MigrationActions({ api }: { api: ApiOutline }) {
  const navigate = useNavigate();
  const toasts = useToasts();
  const { run, error, isPending } = useMigration(api);
  const [stagedId, setStagedId] = useState('');
  const [isPromoting, setPromoting] = useState(false);
  const stage = () =>
    run('stage', ({ success }) => {
      setStagedId(success.stagedAPIs?.[0]?.oasAPIID ?? '');
      toasts.showSuccess(own.staged);
    });
  const promote = () =>
    run('promote', () => {
      toasts.showSuccess(own.promoted(api.name));
      void navigate({ to: '/apis/$apiId/settings', params: { apiId: api.id } });
    });
  return (
    <div className="flex flex-col gap-3">
      <ErrorText error={error} />
      {stagedId !== '' && <StagedCopy stagedId={stagedId} />}
      <div className="flex flex-wrap gap-2">
        <Button kind={stagedId === '' ? 'primary' : 'secondary'} isBusy={isPending} onClick={stage}>
          {stagedId === '' ? own.stage : own.stageAgain}
        </Button>
        {stagedId !== '' && (
          <Button kind="primary" isBusy={isPending} onClick={() => setPromoting(true)}>
            {own.promote}
          </Button>
        )}
      </div>
      <ConfirmDialog
        isOpen={isPromoting}
        tier={2}
        title={own.promoteTitle(api.name)}
        consequence={own.promoteAbout}
        action={own.promoteAction(api.name)}
        isBusy={isPending}
        onConfirm={promote}
        onClose={() => setPromoting(false)}
      />
    </div>
  );
}

/** Address of the staged copy, and its page. */
function StagedCopy({ stagedId }: { stagedId: string }) {
  const { data } = useOperation('GET /api/apis/{apiId}/url', { params: { apiId: stagedId } });
  return (
    <p role="status" className="flex flex-wrap items-center gap-3">
      {data && <span className="break-all">{own.stagedAt(data.value.ApiURL)}</span>}
      <Link to="/apis/$apiId" params={{ apiId: stagedId }} className={buttonClass()}>
        {own.openStaged}
      </Link>
    </p>
  );
}
