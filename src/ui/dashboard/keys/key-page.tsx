import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { CodeEditor } from '../../kit/code-editor.tsx';
import { PageFrame } from '../../kit/page-frame.tsx';
import { useOperation } from '../../kit/queries.ts';
import { QueryState } from '../../kit/states.tsx';
import { Tabs } from '../../kit/tabs.tsx';
import { texts } from '../../texts/texts.ts';
import { usePolicyNames } from '../pickers/policy-picker.tsx';
import { usePermission } from '../session/session.ts';
import { KeyActions } from './key-actions.tsx';
import { KeyEffective } from './key-effective.tsx';
import { type KeyData, nameKey, toKeyFacts } from './key-facts.ts';
import { KeySettingsForm } from './key-settings-form.tsx';
import { KeyState } from './key-state.tsx';

const own = texts.keys;
const tabs = Object.entries(own.tabs).map(([id, label]) => ({ id, label }));
/** Counters move while the page is open. */
const refetchIntervalMs = 10_000;

/** One key, found by its hash: the key itself is in no address. */
export function KeyPage() {
  const { keyHash } = useParams({ from: '/shell/keys/$keyHash' });
  const { tab = 'effective' } = useSearch({ from: '/shell/keys/$keyHash' });
  const canWrite = usePermission('keys:write');
  const navigate = useNavigate();
  const given = { params: { keyId: keyHash }, query: { hashed: 'true' } };
  const query = useOperation('GET /api/keys/{keyId}', given, { refetchIntervalMs });
  const nameOfPolicy = usePolicyNames(query.data?.value.data.apply_policies ?? []);
  if (!query.data) return <QueryState query={query} />;
  const { value, etag } = query.data;
  const facts = toKeyFacts(value);
  const name = nameKey(facts);
  return (
    <PageFrame
      title={name}
      status={<KeyState item={facts} />}
      actions={
        canWrite && (
          <KeyActions facts={facts} data={value.data} etag={etag} onDeleted={() => void navigate({ to: '/keys' })} />
        )
      }
    >
      <Tabs label={name} items={tabs} current={tab} />
      {tab === 'effective' && <KeyEffective facts={facts} data={value.data} nameOfPolicy={nameOfPolicy} />}
      {tab === 'settings' && (
        <KeySettingsForm key={facts.hash} facts={facts} data={value.data} etag={etag} nameOfPolicy={nameOfPolicy} />
      )}
      {tab === 'raw' && (
        <CodeEditor label={own.rawLabel(name)} value={JSON.stringify(withoutKey(value.data), null, 2)} isReadOnly />
      )}
    </PageFrame>
  );
}

/** The stored form without what is a credential. */
const withoutKey = ({ key_id: _key, hmac_string: _hmac, jwt_data: _jwt, basic_auth_data: _user, ...rest }: KeyData) =>
  rest;
