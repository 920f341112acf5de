import { Card } from '../../kit/card.tsx';
import { SelectField } from '../../kit/field.tsx';
import { useOperation } from '../../kit/queries.ts';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';
import { useOrganisationItems } from '../lists/reference-items.ts';

const own = adminTexts.inviteCodes;

/** Organisation and one of its teams, as `OrganisationID` and `TeamID` of the draft. */
export function TeamSelect({
  draft: { value, change },
  isOptional = false,
}: {
  draft: Draft<RecordValue>;
  isOptional?: boolean;
}) {
  const { items = [] } = useOrganisationItems();
  const organisation_id = String(value.OrganisationID ?? '1');
  const { data } = useOperation('GET /portal-api/organisations/{organisation_id}/teams', {
    params: { organisation_id },
    query: { per_page: 1000 },
  });
  return (
    <Card title={own.team}>
      <div className="flex max-w-3xl flex-col gap-4">
        <SelectField
          label={own.organisation}
          value={organisation_id}
          options={items.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={event => change({ OrganisationID: event.target.value, TeamID: '' })}
        />
        <SelectField
          label={own.team}
          value={String(value.TeamID ?? '')}
          required={!isOptional}
          options={[
            { value: '', label: own.chooseTeam },
            ...(data?.value ?? []).map(({ ID, Name }) => ({ value: String(ID), label: Name })),
          ]}
          onChange={event => change({ TeamID: event.target.value })}
        />
      </div>
    </Card>
  );
}
