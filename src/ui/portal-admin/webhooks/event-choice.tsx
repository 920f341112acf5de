import { useState } from 'react';
import { BodyText } from '../../kit/body-text.tsx';
import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { Checkbox, SelectField } from '../../kit/field.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';

const own = adminTexts.webhooks;

export type PortalEventName = NonNullable<ArgumentsOf<'POST /portal-api/webhooks'>['body']['Events']>[number];

type EventGroup = keyof typeof own.eventGroups;

/** Group of each, by name, so that the types of the server find a missing one. */
const eventGroups: Readonly<Record<PortalEventName, EventGroup>> = {
  UserRegistered: 'users',
  UserVerified: 'users',
  UserAccountActivated: 'users',
  UserAccountDeactivated: 'users',
  PasswordReset: 'users',
  RegisterInvite: 'users',
  ApplicationRegistered: 'apps',
  ApplicationDeleted: 'apps',
  CredentialRegistered: 'apps',
  CredentialRotated: 'apps',
  CredentialRevoked: 'apps',
  CredentialExpiring: 'apps',
  CredentialExpired: 'apps',
  QuotaThreshold: 'apps',
  AccessRequestCreated: 'requests',
  AccessRequestApproved: 'requests',
  AccessRequestRejected: 'requests',
  PlanChangeRequested: 'requests',
  PlanChangeApproved: 'requests',
  PlanChangeRejected: 'requests',
  OrganisationRegistered: 'organisations',
  OrganisationRequestCreated: 'organisations',
  OrganisationRequestApproved: 'organisations',
  OrganisationRequestRejected: 'organisations',
  ProductPublished: 'offer',
  ProductChanged: 'offer',
  PlanChanged: 'offer',
  ProviderDown: 'offer',
  ProviderUp: 'offer',
  SyncFinished: 'offer',
};
export const portalEventNames = Object.keys(eventGroups) as readonly PortalEventName[];
const groupNames = Object.keys(own.eventGroups) as readonly EventGroup[];

export function EventChoice({ draft: { value, change } }: { draft: Draft<RecordValue> }) {
  const chosen = (value.Events ?? []) as readonly string[];
  const toggle = (name: string, isOn: boolean) =>
    change({ Events: isOn ? [...chosen, name] : chosen.filter(it => it !== name) });
  return (
    <Card title={own.events}>
      <div className="flex flex-col gap-4">
        {groupNames.map(group => (
          <fieldset key={group} className="flex flex-col gap-1">
            <legend className="pb-1 text-dim">{own.eventGroups[group]}</legend>
            <div className="grid gap-1 sm:grid-cols-2">
              {portalEventNames
                .filter(name => eventGroups[name] === group)
                .map(name => (
                  <Checkbox
                    key={name}
                    label={name}
                    checked={chosen.includes(name)}
                    onChange={event => toggle(name, event.target.checked)}
                  />
                ))}
            </div>
          </fieldset>
        ))}
        <EventSample />
      </div>
    </Card>
  );
}

/** Body of a delivery about objects that do not exist, before anything is sent. */
function EventSample() {
  const [name, setName] = useState('');
  const read = useOperation('GET /portal-api/webhook-events', {}, { enabled: name !== '' });
  const sample = read.data?.value.find(({ Event }) => Event === name)?.Sample;
  return (
    <>
      <SelectField
        label={own.sampleOf}
        value={name}
        options={[{ value: '', label: own.noSample }, ...portalEventNames.map(value => ({ value, label: value }))]}
        onChange={event => setName(event.target.value)}
      />
      {name !== '' && !sample && <QueryState query={read} lines={3} />}
      {sample && <BodyText label={own.sample(name)} text={JSON.stringify(sample, null, 2)} />}
    </>
  );
}
