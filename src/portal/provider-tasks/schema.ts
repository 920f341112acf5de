/**
 * Calls of a provider that the portal has to finish, stored before they are made:
 * `abandon` removes a key that no credential has, `end` the former key of a credential, `revoke` a credential with its
 * key; `change` gives keys the rights of a change of their request, `restore` those of the request; `client` brings an
 * OAuth client to what the records say, `certificate` a client certificate in allow lists, `bind` the certificates of
 * the keys of a credential.
 */
export type ProviderTaskKind = 'abandon' | 'end' | 'revoke' | 'change' | 'restore' | 'client' | 'certificate' | 'bind';

export interface StoredProviderTask {
  ID: number;
  Kind: ProviderTaskKind;
  ProviderID: number;
  /** Id or name of the key, fingerprint of the certificate; empty for all of the request, credential or provider. */
  Key: string;
  /** Hash of the key of a credential; empty for other keys. */
  KeyHash: string;
  /** Time until which the key stays valid; 0 for none. */
  Until: number;
  /** Credential that the key belongs to; 0 for none. */
  CredentialID: number;
  /** Access request that the key was made for, or the change of one; 0 for none. */
  RequestID: number;
  /** OAuth client that the task changes, of which there is one task at a time; 0 or absent for none. */
  OauthClientID?: number;
  /** Custom credential that the key belongs to; 0 or absent for none. */
  CustomID?: number;
  /** Of `restore`: the failed change had the same plan, so that keys keep their expiry and counters. */
  KeepsPlan?: boolean;
  Attempts: number;
  /** Why the last attempt failed; empty before. */
  Error: string;
  /** Process that works on it; empty for none. */
  Holder: string;
  DueAt: number;
  CreatedAt: number;
}

export type NewProviderTask = Pick<StoredProviderTask, 'Kind' | 'ProviderID' | 'Key'> &
  Partial<
    Pick<
      StoredProviderTask,
      'KeyHash' | 'Until' | 'CredentialID' | 'CustomID' | 'KeepsPlan' | 'OauthClientID' | 'RequestID'
    >
  >;
