import { X } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { Card } from '../../kit/card.tsx';
import { SelectField } from '../../kit/field.tsx';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';
import { useOrganisationItems } from '../lists/reference-items.ts';
import type { PortalCatalogue } from './portal-catalogue.ts';

const own = adminTexts.catalogues;
const refreshed = ['GET /portal-api/catalogues/{catalogue_id}'] as const;

/** Teams that a private catalogue is for. A public one is for all visitors, a private one without teams for all who sign in. */
export function AudienceCard({ catalogue }: { catalogue: PortalCatalogue }) {
  const params = { catalogue_id: String(catalogue.ID) };
  const remove = useWrite('DELETE /portal-api/catalogues/{catalogue_id}/audiences/{audience_id}', refreshed);
  const isPublic = catalogue.VisibilityStatus === 'Public';
  return (
    <Card title={own.audiences}>
      <div className="flex flex-col gap-3">
        <p className="text-dim">
          {isPublic ? own.audiencePublic : catalogue.OrgCatalogues.length === 0 ? own.audienceAll : own.audienceSome}
        </p>
        <ErrorText error={remove.error} />
        <ul className="flex flex-col gap-1">
          {catalogue.OrgCatalogues.map(({ ID, Name, Organisation }) => (
            <li key={ID} className="flex items-center gap-2">
              <span>{own.audienceOf(Organisation, Name)}</span>
              <IconButton
                icon={X}
                label={own.removeAudience(Name)}
                onClick={() => remove.mutate({ given: { params: { ...params, audience_id: String(ID) } } })}
              />
            </li>
          ))}
        </ul>
        {!isPublic && <AudienceForm catalogueId={catalogue.ID} />}
      </div>
    </Card>
  );
}

function AudienceForm({ catalogueId }: { catalogueId: number }) {
  const [organisationId, setOrganisationId] = useState('');
  const [teamId, setTeamId] = useState('');
  const { items: organisations = [] } = useOrganisationItems();
  const teams = useOperation(
    'GET /portal-api/organisations/{organisation_id}/teams',
    { params: { organisation_id: organisationId }, query: { per_page: 1000 } },
    { enabled: organisationId !== '' },
  );
  const add = useWrite('POST /portal-api/catalogues/{catalogue_id}/audiences', refreshed);
  const submit = () =>
    add.mutate(
      {
        given: {
          params: { catalogue_id: String(catalogueId) },
          body: { OrganisationID: Number(organisationId), ...(teamId ? { TeamID: Number(teamId) } : {}) },
        },
      },
      { onSuccess: () => setTeamId('') },
    );
  return (
    <div className="flex max-w-3xl flex-col gap-3">
      <ErrorText error={add.error} />
      <SelectField
        label={own.organisation}
        value={organisationId}
        onChange={event => {
          setOrganisationId(event.target.value);
          setTeamId('');
        }}
        options={[{ value: '', label: '–' }, ...organisations.map(({ id, name }) => ({ value: id, label: name }))]}
      />
      <SelectField
        label={own.team}
        help={own.teamHelp}
        value={teamId}
        onChange={event => setTeamId(event.target.value)}
        options={[
          { value: '', label: own.wholeOrganisation },
          ...(teams.data?.value ?? []).map(({ ID, Name }) => ({ value: String(ID), label: Name })),
        ]}
      />
      <div>
        <Button disabled={organisationId === ''} isBusy={add.isPending} onClick={submit}>
          {own.addAudience}
        </Button>
      </div>
    </div>
  );
}
