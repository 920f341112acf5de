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
    /** Identity of a single sign-on without an account, as JSON; else empty. */
    body: string;
  };
  /** Identity providers of organisations. */
  identity_profiles: { id: string; org_id: string; name: string; created_at: number; body: string };
  /** Tokens that are used once: links to set a password, challenges of passkeys. An empty `user_id` means none. */
  sign_in_tokens: {
    digest: string;
    purpose: string;
    org_id: string;
    user_id: string;
    created_at: number;
    expires_at: number;
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
