import { useNavigate, useParams } from '@tanstack/react-router';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { CopyButton } from '../../kit/copy.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { TeamSelect } from './team-select.tsx';

const own = adminTexts.inviteCodes;
const onePath = '/portal-api/invite-codes/{invite_code_id}' as const;
type CodeWrite = ArgumentsOf<'POST /portal-api/invite-codes'>['body'];
type CodeChange = ArgumentsOf<`PUT ${typeof onePath}`>['body'];
const reads = ['GET /portal-api/invite-codes', `GET ${onePath}`] as const;

const sections: readonly FormSection[] = [
  {
    title: own.details,
    fields: [
      { name: 'Quota', label: own.quota, help: own.quotaHelp, kind: 'number', isRequired: true },
      { name: 'Expires', label: own.expires, help: own.expiresHelp },
      { name: 'Active', label: own.active, kind: 'switch' },
    ],
  },
];

export function NewInviteCodePage() {
  const navigate = useNavigate();
  const create = useWrite('POST /portal-api/invite-codes', reads);
  const stored = { Quota: 1, Expires: '', Active: true, OrganisationID: '1', TeamID: '' };
  return (
    <PageFrame title={own.newTitle} width="form">
      <RecordForm
        isNew
        stored={stored}
        sections={sections}
        action={own.create}
        isBusy={create.isPending}
        error={create.error}
        renderMore={draft => <TeamSelect draft={draft} />}
        onSave={async ({ OrganisationID: _organisation, TeamID, ...rest }, _changes, accept) => {
          const body = { ...rest, TeamID: Number(TeamID) } as CodeWrite;
          const { value } = await create.mutateAsync({ given: { body } });
          accept();
          await navigate({
            to: '/admin/invite_codes/$codeId',
            params: { codeId: String(value.ID) },
            ignoreBlocker: true,
          });
        }}
      />
    </PageFrame>
  );
}

const CodeLink = ({ code: { URL: url, Used, Quota } }: { code: ResultOf<`GET ${typeof onePath}`> }) => (
  <Card title={own.link}>
    <p className="flex items-center gap-2">
      <code className="font-mono text-small break-all">{url}</code>
      <CopyButton text={url} />
    </p>
    <p className="text-dim">
      {own.columns.used}: {own.usedOf(Used, Quota)}
    </p>
  </Card>
);

export function InviteCodePage() {
  const { codeId } = useParams({ from: '/shell/admin/invite_codes/$codeId' });
  const params = { invite_code_id: codeId };
  const read = useOperation(`GET ${onePath}`, { params });
  const save = useWrite(`PUT ${onePath}`, reads);
  const remove = useWrite(`DELETE ${onePath}`, ['GET /portal-api/invite-codes']);
  const toasts = useToasts();
  const code = read.data?.value;
  if (!code)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { ID, Quota, Expires, Active } = code;
  const stored = { Quota, Expires, Active, OrganisationID: String(code.OrganisationID), TeamID: String(code.TeamID) };
  return (
    <PageFrame
      title={own.name(ID)}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(ID)}
          name={code.Code}
          tier={3}
          consequence={own.deleteConsequence}
          list="/admin/invite_codes"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <CodeLink code={code} />
        <RecordForm
          key={codeId}
          stored={stored}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          renderMore={draft => <TeamSelect draft={draft} />}
          onSave={async (_draft, { OrganisationID: _organisation, TeamID, ...changes }, accept) => {
            const moved = TeamID === undefined ? {} : { TeamID: Number(TeamID) };
            await save.mutateAsync({ given: { params, body: { ...changes, ...moved } as CodeChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(own.name(ID)));
          }}
        />
      </div>
    </PageFrame>
  );
}
