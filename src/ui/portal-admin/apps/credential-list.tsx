import type { ReactNode } from 'react';
import type { ResultOf } from '../../kit/calls.ts';
import { FactList } from '../../kit/card.tsx';
import { IdText, SecretText } from '../../kit/copy.tsx';
import { adminTexts } from '../../texts/admin-texts.ts';

const own = adminTexts.apps;

export type AppCredential = ResultOf<'GET /portal-api/access_requests/{access_request_id}'>['Credentials'][number];

interface CredentialListProps {
  readonly credentials: readonly AppCredential[];
  /** Buttons of one credential. */
  renderActions?(credential: AppCredential): ReactNode;
}

/** A credential that never expires has the last year of the format as its end. */
const describeEnd = (expires: string) => (expires.startsWith('9999-') ? own.never : expires);

/** Credentials of an access request; keys and secrets are masked. */
export const CredentialList = ({ credentials, renderActions }: CredentialListProps) => (
  <ul className="flex flex-col gap-4">
    {credentials.map(credential => (
      <li key={credential.ID} className="flex flex-col gap-2">
        <FactList
          rows={[
            ...(credential.Credential
              ? [[own.key, <SecretText key="key" secret={credential.Credential} />] as const]
              : []),
            ...(credential.OAuthClientID
              ? [[own.clientId, <IdText key="id" id={credential.OAuthClientID} />] as const]
              : []),
            ...(credential.OAuthClientSecret
              ? [[own.clientSecret, <SecretText key="secret" secret={credential.OAuthClientSecret} />] as const]
              : []),
            ...(credential.CredentialHash
              ? [[own.hash, <IdText key="hash" id={credential.CredentialHash} />] as const]
              : []),
            ...(credential.Scope ? [[own.scopes, credential.Scope] as const] : []),
            [own.expires, describeEnd(credential.Expires)],
          ]}
        />
        {renderActions && <div className="flex flex-wrap gap-2">{renderActions(credential)}</div>}
      </li>
    ))}
  </ul>
);
