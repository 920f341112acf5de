import { Link, useParams } from '@tanstack/react-router';
import { Plus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { Badge } from '../../kit/badge.tsx';
import { Button, IconButton } from '../../kit/button.tsx';
import type { ArgumentsOf, ResultOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { type FormSection, RecordForm } from '../forms/record-form.tsx';
import { DeleteButton } from '../lists/detail-page.tsx';
import { NameDialog } from '../lists/name-dialog.tsx';
import { OrganisationCertificates } from './organisation-certificates.tsx';

const own = adminTexts.organisations;
type OrganisationChange = ArgumentsOf<'PUT /portal-api/organisations/{organisation_id}'>['body'];
type PortalOrganisation = ResultOf<'GET /portal-api/organisations/{organisation_id}'>;
const refreshed = [
  'GET /portal-api/organisations',
  'GET /portal-api/organisations/{organisation_id}',
  'GET /portal-api/organisations/{organisation_id}/teams',
] as const;

const sections: readonly FormSection[] = [
  { title: own.details, fields: [{ name: 'Name', label: own.columns.name, isRequired: true }] },
];

export function OrganisationPage() {
  const { organisationId } = useParams({ from: '/shell/admin/organisations/$organisationId' });
  const params = { organisation_id: organisationId };
  const read = useOperation('GET /portal-api/organisations/{organisation_id}', { params });
  const save = useWrite('PUT /portal-api/organisations/{organisation_id}', refreshed);
  const remove = useWrite('DELETE /portal-api/organisations/{organisation_id}', ['GET /portal-api/organisations']);
  const toasts = useToasts();
  const organisation = read.data?.value;
  if (!organisation)
    return (
      <PageFrame title={own.title}>
        <QueryState query={read} />
      </PageFrame>
    );
  const { Name, Users } = organisation;
  return (
    <PageFrame
      title={Name}
      width="form"
      actions={
        <DeleteButton
          label={adminTexts.forms.delete}
          action={own.deleteAction(Name)}
          name={Name}
          tier={4}
          consequence={own.deleteConsequence(Users.length)}
          list="/admin/organisations"
          done={own.deleted}
          remove={() => remove.mutateAsync({ given: { params } })}
        />
      }
    >
      <div className="flex flex-col gap-4">
        <RecordForm
          key={organisationId}
          stored={{ Name }}
          sections={sections}
          action={own.save}
          isBusy={save.isPending}
          error={save.error}
          onSave={async (_draft, changes, accept) => {
            await save.mutateAsync({ given: { params, body: changes as OrganisationChange } });
            accept();
            toasts.showSuccess(adminTexts.forms.saved(Name));
          }}
        />
        <OrganisationCertificates organisationId={organisationId} />
        <TeamCard organisation={organisation} />
        <MemberCard users={Users} />
      </div>
    </PageFrame>
  );
}

const MemberCard = ({ users }: { users: PortalOrganisation['Users'] }) => (
  <Card title={own.users}>
    {users.length === 0 && <p className="text-dim">{own.noUsers}</p>}
    <ul className="flex flex-col gap-1">
      {users.map(({ ID, Email }) => (
        <li key={ID}>
          <Link to="/admin/users/$userId" params={{ userId: String(ID) }} className="row-link break-all">
            {Email}
          </Link>
        </li>
      ))}
    </ul>
  </Card>
);

type Team = PortalOrganisation['Teams'][number];

/** Teams of an organisation; members are chosen on the page of a user. */
function TeamCard({ organisation }: { organisation: PortalOrganisation }) {
  const params = { organisation_id: String(organisation.ID) };
  const create = useWrite('POST /portal-api/organisations/{organisation_id}/teams', refreshed);
  const remove = useWrite('DELETE /portal-api/organisations/{organisation_id}/teams/{team_id}', refreshed);
  const toasts = useToasts();
  const [isAdding, setAdding] = useState(false);
  const [pending, setPending] = useState<Team>();
  const confirm = () =>
    remove.mutate(
      { given: { params: { ...params, team_id: String(pending?.ID) } } },
      { onError: error => toasts.showError(error.message), onSettled: () => setPending(undefined) },
    );
  return (
    <Card
      title={own.teams}
      action={
        <Button icon={Plus} onClick={() => setAdding(true)}>
          {own.addTeam}
        </Button>
      }
    >
      <ul className="flex flex-col gap-1">
        {organisation.Teams.map(team => (
          <li key={team.ID} className="flex min-h-8 items-center gap-2">
            <span className="break-words">{team.Name}</span>
            {team.Default ? (
              <Badge>{own.defaultTeam}</Badge>
            ) : (
              <IconButton icon={Trash2} label={own.deleteTeam(team.Name)} onClick={() => setPending(team)} />
            )}
          </li>
        ))}
      </ul>
      <NameDialog
        key={String(isAdding)}
        isOpen={isAdding}
        title={own.addTeam}
        label={own.teamName}
        action={own.addTeam}
        isBusy={create.isPending}
        error={create.error}
        onSave={Name => create.mutateAsync({ given: { params, body: { Name } } })}
        onClose={() => setAdding(false)}
      />
      <ConfirmDialog
        isOpen={pending !== undefined}
        tier={3}
        title={`${own.deleteTeam(pending?.Name ?? '')}?`}
        consequence={own.deleteTeamConsequence}
        action={own.deleteTeam(pending?.Name ?? '')}
        isBusy={remove.isPending}
        onConfirm={confirm}
        onClose={() => setPending(undefined)}
      />
    </Card>
  );
}
