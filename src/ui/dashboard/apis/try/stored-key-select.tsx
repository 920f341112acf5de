import type { ResultOf } from '../../../kit/calls.ts';
import { SelectField } from '../../../kit/field.tsx';
import { useOperation } from '../../../kit/queries.ts';
import { texts } from '../../../texts/texts.ts';
import { usePermission } from '../../session/session.ts';

const own = texts.tryApi;
type ListedKey = ResultOf<'GET /api/keys/detailed'>['keys'][number];

export interface StoredKeySelectProps {
  readonly apiId: string;
  /** Hash of the chosen key; empty for none. */
  readonly value: string;
  onChange(hash: string, keyId: string): void;
}

/** Where only hashes are stored, a listed id is the hash: the gateway would refuse it. */
const isReadable = ({ key_id, key_hash }: ListedKey) => key_id !== key_hash;
const labelOf = ({ key_hash, data }: ListedKey) => (data.alias ? `${data.alias} (${key_hash})` : key_hash);

/** One of the keys that may call the API; its text is sent and never shown. */
export function StoredKeySelect({ apiId, value, onChange }: StoredKeySelectProps) {
  const canRead = usePermission('keys');
  const query = { api_id: apiId, kind: 'token', state: 'active', p: 1 } as const;
  const { data } = useOperation('GET /api/keys/detailed', { query }, { enabled: canRead });
  const keys = (data?.value.keys ?? []).filter(isReadable);
  if (keys.length === 0) return null;
  return (
    <SelectField
      label={own.storedKey}
      help={own.storedKeyHelp}
      value={value}
      onChange={({ target }) => onChange(target.value, keys.find(it => it.key_hash === target.value)?.key_id ?? '')}
      options={[{ value: '', label: own.noStoredKey }, ...keys.map(it => ({ value: it.key_hash, label: labelOf(it) }))]}
    />
  );
}
