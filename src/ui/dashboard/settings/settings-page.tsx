import { Card, FactList } from '../../kit/card.tsx';
import { IdText } from '../../kit/copy.tsx';
import { formatNumber } from '../../kit/format.ts';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useSession } from '../session/session.ts';
import { ConfigurationCard } from './configuration-card.tsx';
import { OrganisationSettingsCard } from './organisation-settings-card.tsx';
import { PermissionCard } from './permission-card.tsx';
import { RuleCard } from './rule-card.tsx';

const own = texts.settings;
const maxIdChars = 18;

/** Settings of the organisation, for its administrators. */
export function SettingsPage() {
  const { organisation } = useSession();
  return (
    <PageFrame title={own.title} width="form">
      <div className="flex max-w-[960px] flex-col gap-4">
        <Card title={own.organisation}>
          <FactList
            rows={[
              [own.name, organisation.owner_name],
              [own.id, <IdText key="id" id={organisation.id} maxChars={maxIdChars} />],
            ]}
          />
        </Card>
        <OrganisationSettingsCard />
        <SignInCard />
        <PermissionCard />
        <RuleCard />
        <ConfigurationCard />
      </div>
    </PageFrame>
  );
}

/** Sign-in settings of the operator, read only. */
function SignInCard() {
  const query = useOperation('GET /api/session/options', { query: {} });
  if (!query.data)
    return (
      <Card title={own.signIn}>
        <QueryState query={query} lines={3} />
      </Card>
    );
  const { password_rules: rules, password_reset_by_mail: hasMail, passkey } = query.data.value;
  const toLines = (count: number, toText: (count: string) => string) =>
    count > 0 ? [toText(formatNumber(count))] : [];
  const lines = [
    ...toLines(rules.min_length, own.minLength),
    ...(rules.multi_case ? [own.multiCase] : []),
    ...toLines(rules.min_numeric, own.minNumeric),
    ...toLines(rules.min_special, own.minSpecial),
    ...(rules.disable_sequential ? [own.disableSequential] : []),
    ...toLines(rules.history, own.history),
  ];
  return (
    <Card title={own.signIn}>
      <div className="flex flex-col gap-3">
        <FactList
          rows={[
            [
              own.passwordRules,
              <ul key="rules">
                {lines.map(line => (
                  <li key={line}>{line}</li>
                ))}
              </ul>,
            ],
            [own.resetByMail, hasMail ? own.yes : own.no],
            [own.passkeys, passkey ? own.yes : own.no],
          ]}
        />
        <p className="text-small text-dim">{own.operator}</p>
      </div>
    </Card>
  );
}
