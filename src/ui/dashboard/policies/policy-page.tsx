import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Ellipsis } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../../kit/button.tsx';
import { IdText } from '../../kit/copy.tsx';
import { Menu } from '../../kit/menu.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import { HistoryLink } from '../history/history-link.tsx';
import { usePermission } from '../session/session.ts';
import { FavouriteButton } from '../shell/favourite-button.tsx';
import { DeletePolicyDialog } from './delete-policy-dialog.tsx';
import { emptyPolicy, idOfPolicy, type PolicyData, toCopy } from './policy-draft.ts';
import { PolicyForm } from './policy-form.tsx';
import { PolicyOffers } from './policy-offers.tsx';
import { PolicyStatePill } from './policy-state-pill.tsx';

const own = texts.policies;

/** One policy: access, limits, details, the keys that use it, and its merge with others. */
export function PolicyPage() {
  const { policyId } = useParams({ from: '/shell/policies/$policyId' });
  const { tab = 'access' } = useSearch({ from: '/shell/policies/$policyId' });
  const query = useOperation('GET /api/portal/policies/{policyId}', { params: { policyId } });
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  return (
    <PageFrame
      title={value.name || policyId}
      status={
        <>
          <PolicyStatePill state={value.state} />
          <FavouriteButton kind="policies" id={idOfPolicy(value)} name={value.name ?? ''} />
        </>
      }
      about={<IdText id={idOfPolicy(value)} maxChars={32} />}
      actions={
        <>
          <HistoryLink kind="policies" id={idOfPolicy(value)} name={value.name || policyId} />
          <PolicyMenu policy={value} />
        </>
      }
    >
      <PolicyOffers policyId={idOfPolicy(value)} />
      <PolicyForm key={policyId} stored={value} etag={etag} isNew={false} tab={tab} />
    </PageFrame>
  );
}

function PolicyMenu({ policy }: { policy: PolicyData }) {
  const canWrite = usePermission('policies:write');
  const navigate = useNavigate();
  const [isDeleting, setDeleting] = useState(false);
  const id = idOfPolicy(policy);
  if (!canWrite) return null;
  return (
    <>
      <Menu
        trigger={<IconButton icon={Ellipsis} kind="secondary" label={texts.kit.actionsOf(policy.name ?? id)} />}
        items={[
          { label: own.duplicate, onSelect: () => void navigate({ to: '/policies/new', search: { from: id } }) },
          'line',
          { label: own.delete, isDanger: true, onSelect: () => setDeleting(true) },
        ]}
      />
      <DeletePolicyDialog
        policy={isDeleting ? policy : undefined}
        onClose={() => setDeleting(false)}
        onDeleted={() => void navigate({ to: '/policies' })}
      />
    </>
  );
}

/** A new policy, empty or as a copy of another. */
export function NewPolicyPage() {
  const { from = '', tab = 'access' } = useSearch({ from: '/shell/policies/new' });
  const source = useOperation(
    'GET /api/portal/policies/{policyId}',
    { params: { policyId: from } },
    { enabled: from !== '' },
  );
  if (from !== '' && !source.data) return <QueryState query={source} />;
  return (
    <PageFrame title={own.newTitle}>
      <NewPolicy source={source.data?.value} tab={tab} />
    </PageFrame>
  );
}

function NewPolicy({ source, tab }: { source: PolicyData | undefined; tab: string }) {
  const [stored] = useState(() => (source ? toCopy(source) : emptyPolicy));
  return <PolicyForm stored={stored} isNew tab={tab} />;
}
