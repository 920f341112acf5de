import type { ArgumentsOf } from '../../kit/calls.ts';
import { Card } from '../../kit/card.tsx';
import { Checkbox } from '../../kit/field.tsx';
import type { Draft } from '../../kit/use-draft.ts';
import { adminTexts } from '../../texts/admin-texts.ts';
import type { RecordValue } from '../forms/record-form.tsx';

const own = adminTexts.webhooks;

export type PortalEventName = NonNullable<ArgumentsOf<'POST /portal-api/webhooks'>['body']['Events']>[number];

/** By name, so that the types of the server find a missing one. */
const eventNames: Readonly<Record<PortalEventName, true>> = {
  UserRegistered: true,
  UserVerified: true,
  UserAccountActivated: true,
  UserAccountDeactivated: true,
  PasswordReset: true,
  RegisterInvite: true,
  ApplicationRegistered: true,
  ApplicationDeleted: true,
  CredentialRegistered: true,
  CredentialRotated: true,
  CredentialRevoked: true,
  CredentialExpiring: true,
  CredentialExpired: true,
  QuotaThreshold: true,
  AccessRequestCreated: true,
  AccessRequestApproved: true,
  AccessRequestRejected: true,
  PlanChangeRequested: true,
  PlanChangeApproved: true,
  PlanChangeRejected: true,
  OrganisationRegistered: true,
  OrganisationRequestCreated: true,
  OrganisationRequestApproved: true,
  OrganisationRequestRejected: true,
  ProductPublished: true,
  ProductChanged: true,
  PlanChanged: true,
  ProviderDown: true,
  ProviderUp: true,
  SyncFinished: true,
};
export const portalEventNames = Object.keys(eventNames) as readonly PortalEventName[];

export function EventChoice({ draft: { value, change } }: { draft: Draft<RecordValue> }) {
  const chosen = (value.Events ?? []) as readonly string[];
  const toggle = (name: string, isOn: boolean) =>
    change({ Events: isOn ? [...chosen, name] : chosen.filter(it => it !== name) });
  return (
    <Card title={own.events}>
      <div className="grid gap-1 sm:grid-cols-2">
        {portalEventNames.map(name => (
          <Checkbox
            key={name}
            label={name}
            checked={chosen.includes(name)}
            onChange={event => toggle(name, event.target.checked)}
          />
        ))}
      </div>
    </Card>
  );
}
