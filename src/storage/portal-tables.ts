import type { Generated } from 'kysely';

/**
 * Portal tables; see `tables.ts`. Objects have serial ids; `cid` is the persistent id that identifies an object across
 * installations.
 */
interface Numbered {
  id: number;
  body: string;
}

interface Named extends Numbered {
  cid: string;
}

export interface PortalTables {
  // Publishing and access: providers, products, plans, catalogues, organisations, users, apps, credentials.
  portal_access_requests: Numbered & {
    app_id: number;
    user_id: number;
    plan_id: number;
    provider_id: number;
    status: string;
    created_at: number;
    /** Soft delete, 0 for none: a deleted request still counts against the allowance of its plan. */
    deleted_at: number;
  };
  portal_attribute_models: Numbered;
  portal_attribute_values: Numbered & { user_id: number; attribute_id: number };
  portal_attributes: Numbered & { model_id: number; identifier: string };
  portal_audiences: Numbered & { catalogue_id: number; team_id: number };
  portal_custom_credentials: Numbered & { app_id: number; plan_id: number; provider_id: number };
  portal_apps: Numbered & { user_id: number };
  portal_catalogue_plans: { catalogue_id: number; plan_id: number };
  portal_catalogue_products: { catalogue_id: number; product_id: number };
  portal_catalogues: Named & { name: string; slug: string };
  portal_certificates: Numbered & { app_id: number; fingerprint: string };
  portal_changelog: Numbered & { product_id: number; released_at: number; announcing: Generated<number> };
  portal_changelog_proposals: Numbered & { product_id: number };
  portal_client_types: Named & { name: string; provider_id: number };
  portal_credentials: Numbered & { access_request_id: number };
  portal_expiry_notices: { credential_id: number; stage: string; expires_at: number };
  portal_invitations: Numbered & { organisation_id: number; email: string; digest: string; expires_at: number };
  portal_invite_codes: Numbered & { team_id: number; digest: string };
  portal_notification_choices: { user_id: number; body: string };
  portal_notifications: Numbered & { user_id: number; is_read: number };
  portal_oauth_clients: Numbered & { app_id: number; client_type_id: number };
  portal_oauth_providers: Named & { name: string };
  portal_organisation_certificates: Numbered & { organisation_id: number; fingerprint: string };
  portal_organisation_requests: Numbered & { user_id: number; name: string; status: string };
  portal_organisations: Named & { name: string };
  portal_plans: Named & { provider_id: number; reference_id: string; name: string };
  portal_product_client_types: { client_type_id: number; product_id: number };
  portal_product_docs: Numbered & { product_id: number; position: number; path: string };
  portal_product_subscribers: { product_id: number; user_id: number };
  portal_product_tags: { tag_id: number; product_id: number };
  portal_product_words: { word: string; product_id: number };
  portal_products: Named & {
    provider_id: number;
    reference_id: string;
    name: string;
    path: string;
    hidden: Generated<number>;
    featured: Generated<number>;
  };
  portal_provider_certificates: Numbered & { provider_id: number; fingerprint: string };
  /** `due_at` is the end of the claim of `holder` while it works on the task. */
  portal_provider_tasks: Numbered & {
    provider_id: number;
    credential_id: number;
    oauth_client_id: Generated<number>;
    holder: string;
    due_at: number;
  };
  portal_providers: Named & { name: string };
  portal_search_entries: {
    source_id: number;
    position: number;
    kind: string;
    place: string;
    title: string;
    summary: string;
  };
  portal_search_sources: { id: Generated<number>; owner: string; product_id: number };
  portal_search_words: { word: string; source_id: number; position: number };
  portal_terms: Numbered & { version: string; published_at: number; product_id: number };
  portal_terms_acceptances: Numbered & { terms_id: number; user_id: number };
  portal_team_members: { team_id: number; user_id: number };
  portal_teams: Named & { organisation_id: number; is_default: number };
  portal_users: Named & { organisation_id: number; email: string };

  // Content: pages, the blog, webhooks, single sign-on.
  portal_blocks: Named & { page_id: number; name: string };
  portal_categories: Named & { name: string };
  portal_mail_templates: { name: string; body: string };
  /** `due_at` is the end of the claim of `holder` while it sends the mail. */
  portal_mails: Numbered & {
    name: string;
    recipient: string;
    state: string;
    holder: string;
    due_at: number;
    created_at: number;
  };
  portal_menus: Named & { path: string };
  portal_pages: Named & { path: string };
  /** Uploaded files; `content` is Base64. */
  portal_files: {
    owner: string;
    slot: string;
    media_type: string;
    content: string;
    updated_at: number;
  };
  portal_post_categories: { category_id: number; post_id: number };
  portal_post_tags: { tag_id: number; post_id: number };
  portal_posts: Numbered & { path: string; status: string; published_at: Generated<number> };
  portal_sso_profiles: { id: string; created_at: number; body: string };
  portal_tags: Named & { name: string };
  portal_themes: Numbered & { name: string; is_active: number };
  portal_webhooks: Numbered;
}
