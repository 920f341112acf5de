/** Tables of sign-in. Tokens are stored as keyed hashes only. */
export interface SignInTables {
  /** Browser sessions. */
  sessions: {
    id: string;
    org_id: string;
    user_id: string;
    digest: string;
    created_at: number;
    seen_at: number;
    expires_at: number;
    address: string;
    user_agent: string;
    /** Identity profile of a single sign-on; empty for none. */
    profile_id: string;
    /** User who created the nonce of a single sign-on; empty for none. */
    creator_id: string;
    /** Identity of a single sign-on without an account, as JSON; else empty. */
    body: string;
    /** Keyed hash of identity profile and name identifier; empty without a session of the provider. */
    provider_subject: string;
    /** Session of the identity provider, or the sealed ID token of the sign-on, as JSON; else empty. */
    provider_session: string;
  };
  /** Identity providers of organisations. */
  identity_profiles: { id: string; org_id: string; name: string; created_at: number; body: string };
  /**
   * Tokens that are used once (links to set a password, single sign-on nonces, verified SAML assertions), and values
   * that were used (replay protection). `user_id` is the owner whose unused tokens are bounded together: a user, an
   * organisation or an identity profile; empty for used values.
   */
  sign_in_tokens: {
    digest: string;
    purpose: string;
    org_id: string;
    user_id: string;
    created_at: number;
    expires_at: number;
    body: string;
  };
  /**
   * Account linking: the user of an identity provider that an account belongs to. `digest` is a keyed hash of
   * organisation, provider and subject, `provider` one of organisation and provider.
   */
  account_links: {
    digest: string;
    org_id: string;
    user_id: string;
    provider: string;
    created_at: number;
    body: string;
  };
  /** Second factors. `reference` finds one: the id of a passkey, the hash of a recovery code, the user of a TOTP. */
  user_factors: {
    id: string;
    org_id: string;
    user_id: string;
    kind: string;
    reference: string;
    created_at: number;
    used_at: number;
    body: string;
  };
}
