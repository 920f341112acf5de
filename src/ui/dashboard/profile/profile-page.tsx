import { useSearch } from '@tanstack/react-router';
import { Card, FactList } from '../../kit/card.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { texts } from '../../texts/texts.ts';
import { summarizePermissions } from '../groups/permission-table.tsx';
import { canUse, useSession } from '../session/session.ts';
import { AccessKeyCard } from './access-key-card.tsx';
import { PasskeyCard } from './passkey-card.tsx';
import { PasswordCard } from './password-card.tsx';
import { PreferencesCard } from './preferences-card.tsx';
import { SessionList } from './session-list.tsx';
import { TotpCard } from './totp-card.tsx';

const own = texts.profile;
const tabs = Object.entries(own.tabs).map(([id, label]) => ({ id, label }));

/** The own account: every user has it, whatever the permissions. */
export function ProfilePage() {
  const { tab = 'account' } = useSearch({ from: '/shell/profile' });
  const session = useSession();
  const { user, organisation, permissions, second_factors } = session;
  const needsCode = second_factors.length > 0;
  return (
    <PageFrame title={own.title} width="form">
      <Tabs label={own.title} items={tabs} current={tab} />
      <div className="flex max-w-[720px] flex-col gap-4">
        {tab === 'account' && (
          <>
            <Card title={own.details}>
              <FactList
                rows={[
                  [own.name, `${user.first_name} ${user.last_name}`.trim()],
                  [own.email, user.email_address],
                  [own.organisation, organisation.owner_name],
                  [own.permissions, canUse(session, 'admin') ? own.administrator : summarizePermissions(permissions)],
                ]}
              />
            </Card>
            <AccessKeyCard userId={user.id} />
          </>
        )}
        {tab === 'security' && (
          <>
            <PasswordCard userId={user.id} needsCode={needsCode} />
            <TotpCard />
            <PasskeyCard needsCode={needsCode} />
          </>
        )}
        {tab === 'sessions' && <SessionList userId={user.id} canEnd isOwn />}
        {tab === 'preferences' && <PreferencesCard />}
      </div>
    </PageFrame>
  );
}
