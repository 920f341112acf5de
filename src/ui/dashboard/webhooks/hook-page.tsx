import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ellipsis, Send } from 'lucide-react';
import { useState } from 'react';
import { Button, IconButton } from '../../kit/button.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Menu } from '../../kit/menu.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { webhookTexts } from '../../texts/en/webhooks.ts';
import { texts } from '../../texts/texts.ts';
import { HistoryLink } from '../history/history-link.tsx';
import { usePermission } from '../session/session.ts';
import { DeleteHookDialog } from './delete-hook-dialog.tsx';
import { DeliveryList } from './delivery-list.tsx';
import { type HookData, nameHook } from './hook-draft.ts';
import { HealthCard, HookState, useHookHealth } from './hook-health.tsx';
import { HookSecret } from './hook-secret.tsx';
import { HookSettings } from './hook-settings.tsx';
import { HookTestDialog } from './hook-test-dialog.tsx';

const own = webhookTexts;

/** One webhook: its request, its deliveries, its signature. */
export function HookPage() {
  const { hookId } = useParams({ from: '/shell/webhooks/$hookId' });
  const { tab = 'settings', p = 1 } = useSearch({ from: '/shell/webhooks/$hookId' });
  const canWrite = usePermission('hooks:write');
  const query = useOperation('GET /api/hooks/{hookId}', { params: { hookId } });
  const health = useHookHealth(hookId);
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  const tabs = (['settings', 'deliveries', ...(canWrite ? (['secret'] as const) : [])] as const).map(id => ({
    id,
    label: own.tabs[id],
  }));
  return (
    <PageFrame
      title={nameHook(value)}
      status={<HookState health={health.data?.value} />}
      about={<IdText id={value.webhook_id} maxChars={40} />}
      actions={
        <>
          <HistoryLink kind="hooks" id={hookId} name={nameHook(value)} />
          {canWrite && <HookActions hook={value} />}
        </>
      }
    >
      <Tabs label={nameHook(value)} items={tabs} current={tab} />
      {tab === 'settings' && (
        <div className="grid items-start gap-4 min-[1280px]:grid-cols-[minmax(0,960px)_minmax(280px,1fr)]">
          <HookSettings key={hookId} hook={value} etag={etag} />
          <HealthCard hookId={hookId} />
        </div>
      )}
      {tab === 'deliveries' && <DeliveryList filters={{ hook_id: hookId }} p={p} isFiltered={false} />}
      {tab === 'secret' && canWrite && <HookSecret hookId={hookId} />}
    </PageFrame>
  );
}

function HookActions({ hook }: { hook: HookData }) {
  const navigate = useNavigate();
  const [isTesting, setTesting] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <Button icon={Send} onClick={() => setTesting(true)}>
        {own.sendTest}
      </Button>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(nameHook(hook))} />}
        items={[{ label: own.delete, isDanger: true, onSelect: () => setDeleting(true) }]}
      />
      {isTesting && <HookTestDialog hook={hook} onClose={() => setTesting(false)} />}
      <DeleteHookDialog
        hook={isDeleting ? hook : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/webhooks' })}
      />
    </>
  );
}
