import { Button } from '../../kit/button.tsx';
import { Card, FactList } from '../../kit/card.tsx';
import { formatNumber } from '../../kit/format.ts';
import { useOperation, useWrite } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { useToasts } from '../../kit/toast.tsx';
import { organisationSettingsTexts } from '../../texts/en/organisation-settings.ts';
import { describeQuota, describeRate } from '../limits/limit-text.ts';
import { useSession } from '../session/session.ts';

const own = organisationSettingsTexts;

const describeDays = (days: number) => (days > 0 ? own.days(formatNumber(days)) : own.forever);

/** Values that the operator set for the organisation, read only, and a test of the mail server. */
export function OrganisationSettingsCard() {
  const query = useOperation('GET /api/org/settings', {});
  const { portal_url: portal } = useSession();
  if (!query.data)
    return (
      <Card title={own.title}>
        <QueryState query={query} lines={4} />
      </Card>
    );
  const { limits, retention_days: days, has_mail_server: hasMail } = query.data.value;
  return (
    <Card title={own.title}>
      <div className="flex flex-col gap-3">
        <FactList
          rows={[
            [own.rate, describeRate(limits ?? {})],
            [own.quota, describeQuota(limits ?? {})],
            [own.analytics, describeDays(days.analytics)],
            [own.audit, describeDays(days.audit)],
            [own.history, describeDays(days.history)],
            [own.deliveries, describeDays(days.deliveries)],
            [
              own.portal,
              portal ? (
                <a key="portal" href={portal} className="text-accent-ink hover:underline">
                  {portal}
                </a>
              ) : (
                own.noPortal
              ),
            ],
            [own.mail, hasMail ? <TestMailButton key="mail" /> : own.noMail],
          ]}
        />
        <p className="text-small text-dim">{own.about}</p>
      </div>
    </Card>
  );
}

function TestMailButton() {
  const { user } = useSession();
  const { showSuccess, showError } = useToasts();
  const { mutate, isPending } = useWrite('POST /api/org/test-mail');
  const send = () =>
    mutate(
      { given: {} },
      { onSuccess: () => showSuccess(own.sent(user.email_address)), onError: error => showError(error.message) },
    );
  return (
    <Button isBusy={isPending} onClick={send}>
      {own.sendTest}
    </Button>
  );
}
