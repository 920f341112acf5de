import { useState } from 'react';
import { Button } from '../../kit/button.tsx';
import { SecretText } from '../../kit/copy.tsx';
import { useWrite } from '../../kit/queries.ts';
import { ErrorText } from '../../kit/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { ApiOutline } from '../apis/api-outline.ts';
import { buildKey } from '../keys/new-key.ts';
import { usePermission } from '../session/session.ts';
import { ManagementCalls } from './management-calls.tsx';

const own = texts.welcome;
const starterRate = { rate: 100, per: 60 } as const;

const buildPolicy = ({ id, name }: ApiOutline) => ({
  name: own.policyName(name),
  state: 'active' as const,
  ...starterRate,
  quota_max: -1,
  access_rights: { [id]: { api_id: id, api_name: name, versions: ['Default'] } },
});

const buildStarterKey = ({ id, name }: ApiOutline, policyId: string | undefined) =>
  policyId === undefined
    ? buildKey({ alias: own.keyAlias(name), policies: [], apis: [{ id, name }], expires: 0, ...starterRate })
    : buildKey({ alias: own.keyAlias(name), policies: [policyId], apis: [], expires: 0 });

/** Creates the policy once, then a key of it; without the permission for policies the key has the rights itself. */
function useStarterKey(api: ApiOutline) {
  const canWritePolicies = usePermission('policies:write');
  const [policyId, setPolicyId] = useState<string>();
  const policy = useWrite('POST /api/portal/policies', ['GET /api/portal/policies/search']);
  const key = useWrite('POST /api/keys', ['GET /api/keys/detailed']);
  const createKey = (id: string | undefined) =>
    key.mutate({ given: { body: buildStarterKey(api, id) }, options: { wait: 'applied' } });
  const run = () => {
    if (!canWritePolicies || policyId !== undefined) return createKey(policyId);
    policy.mutate(
      { given: { body: buildPolicy(api) }, options: { wait: 'applied' } },
      {
        onSuccess: ({ value }) => {
          const id = value.Message;
          setPolicyId(id);
          createKey(id);
        },
      },
    );
  };
  return {
    run,
    canWritePolicies,
    isBusy: policy.isPending || key.isPending,
    error: policy.error ?? key.error,
    secret: key.data?.value.key_id,
    requests: [
      ...(canWritePolicies ? [{ method: 'POST', url: '/api/portal/policies', body: buildPolicy(api) }] : []),
      { method: 'POST', url: '/api/keys', body: buildStarterKey(api, canWritePolicies ? 'POLICY_ID' : undefined) },
    ],
  };
}

interface KeyStepProps {
  readonly api: ApiOutline;
  /** Undefined: continue without a key. */
  onKey(secret: string | undefined): void;
}

export function KeyStep({ api, onKey }: KeyStepProps) {
  const canWriteKeys = usePermission('keys:write');
  const { run, canWritePolicies, isBusy, error, secret, requests } = useStarterKey(api);
  if (!canWriteKeys)
    return (
      <>
        <p className="text-dim">{own.keyForbidden}</p>
        <div>
          <Button onClick={() => onKey(undefined)}>{own.withoutKey}</Button>
        </div>
      </>
    );
  if (secret !== undefined)
    return (
      <>
        <SecretText secret={secret} isShownOnce />
        <div>
          <Button kind="primary" onClick={() => onKey(secret)}>
            {own.kept}
          </Button>
        </div>
      </>
    );
  return (
    <>
      <p className="text-dim">{canWritePolicies ? own.keyAbout(api.name) : own.keyAboutAlone(api.name)}</p>
      <ErrorText error={error} />
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" isBusy={isBusy} onClick={run}>
          {own.createKey}
        </Button>
        <Button kind="quiet" onClick={() => onKey(undefined)}>
          {own.withoutKey}
        </Button>
      </div>
      <ManagementCalls requests={requests} />
    </>
  );
}
