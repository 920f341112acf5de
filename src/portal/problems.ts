import { problems } from '#base/problems.ts';

/** Unknown objects: 404 on reads and deletes, 422 on writes and actions. */
export const problem = problems('portal', {
  not_found: { status: 404, message: '{what} not found' },
  unknown: { status: 422, message: '{what} not found' },
  cid_taken: { status: 409, message: 'CID: an object with this persistent id already exists' },
  product_exists: { status: 409, message: 'A product with this Path or CID already exists' },
  catalogue_exists: { status: 409, message: 'A catalogue with this NameWithSlug or CID already exists' },
  user_exists: { status: 409, message: 'A user with this Email or CID already exists' },
  last_administrator: {
    status: 422,
    message: 'The only active administrator cannot be deleted, deactivated or given another role',
  },
  default_organisation: { status: 422, message: 'The default organisation cannot be deleted' },
  organisation_assigned: { status: 422, message: 'The developer already has an organisation' },
  organisation_requested: { status: 422, message: 'The developer already has a pending request' },
  organisation_taken: { status: 422, message: 'Name: is taken by an organisation or a pending request' },
  organisation_decided: { status: 422, message: 'The request is {status}: only a pending one can be decided' },
  invitation_exists: {
    status: 409,
    message: 'Email: the address has an invitation already: send it again or cancel it',
  },
  too_many_invitations: { status: 422, message: 'There are {max} open invitations, the maximum: cancel some first' },
  invitation_unneeded: { status: 422, message: 'The user {reason}, and needs no invitation' },
  second_factor_missing: { status: 422, message: 'The user has no authenticator app' },
  own_second_factor: { status: 422, message: 'Your own second factor is removed on your profile, with its code' },
  sole_organisation_admin: {
    status: 422,
    message: 'Your organisation has other members: make one of them its administrator first',
  },
  own_membership: { status: 422, message: 'Another administrator of the organisation has to change this membership' },
  terms_exist: { status: 409, message: 'Version: other terms have it' },
  terms_published: { status: 422, message: 'Published terms do not change: create another version' },
  terms_accepted: { status: 422, message: '{count} developers accepted these terms, which have to stay' },
  too_many_codes: { status: 422, message: 'The team has {max} invite codes, the maximum' },
  code_unknown: { status: 422, message: 'This invite code does not exist' },
  code_inactive: { status: 422, message: 'This invite code is not active' },
  code_expired: { status: 422, message: 'This invite code has expired' },
  code_exhausted: { status: 422, message: 'This invite code was used as often as it can be' },
  default_team: { status: 422, message: 'The default team of an organisation cannot be deleted' },
  last_audience: {
    status: 422,
    message: 'Without it these catalogues have no audience, and are for all developers: {names}',
  },
  audience_exists: { status: 422, message: 'TeamID: the team is in the audience already' },
  attribute_exists: { status: 422, message: 'Identifier: another attribute has it' },
  attribute_type_fixed: { status: 422, message: 'Type: cannot change: create another attribute' },
  attribute_read_only: { status: 422, message: 'Value: is set already and can be written only once' },
  attribute_not_editable: { status: 422, message: '{name} cannot be changed any more' },
  attribute_required: { status: 422, message: 'Value: is required' },
  credential_fixed: { status: 422, message: '{members}: cannot change: create another credential' },
  too_many_attributes: { status: 422, message: 'There can be at most {maxAttributes} custom attributes' },
  page_exists: { status: 422, message: 'A page with this Path or CID already exists' },
  menu_exists: { status: 422, message: 'A menu with this Path or CID already exists' },
  too_many_menus: { status: 422, message: 'There are {max} menus, the maximum' },
  page_path_built_in: {
    status: 422,
    message: 'Path: {path} is a path of the portal itself, whose page would be shown instead: choose another one',
  },
  block_exists: { status: 422, message: 'A block of the page with this Name, or one with this CID, already exists' },
  blocks_too_long: {
    status: 422,
    message: 'The blocks of this list have more than {maxLength} characters: ask for fewer with per_page',
  },
  setting_pinned: {
    status: 422,
    message: '{names}: is set by an environment variable or flag of the process, and cannot be set here',
  },
  bad_password: { status: 422, message: '{faults}' },
  provider_refused: { status: 422, message: 'Provider {name} refused: {reason}' },
  provider_unavailable: { status: 422, message: 'Provider {name} cannot be reached: {reason}' },
  sync_failed: { status: 422, message: 'Failed to sync provider {name}: {reason}' },
  secret_required: {
    status: 422,
    message: 'Configuration.MetaData.Secret: must be sent again when URL names another host',
  },
  provider_url_missing: {
    status: 422,
    message: 'Configuration.MetaData.URL: is required: create another provider for this installation',
  },
  provider_organisation_fixed: {
    status: 422,
    message: 'Configuration.MetaData.OrgID: cannot change: create another provider for another organisation',
  },
  plan_in_use: {
    status: 409,
    message:
      'The plan still limits {count} credentials, which would be left without limits: delete their requests first',
  },
  quota_exceeded: { status: 422, message: 'Plan access quota exceeded' },
  not_approved: { status: 422, message: 'The access request is {status}: only an approved one can be changed' },
  change_pending: { status: 422, message: 'Another change of the access request is pending: cancel it first' },
  change_unfinished: { status: 422, message: 'A failed change of the credential is being undone: try again later' },
  not_pending: { status: 422, message: 'The access request is {status}: only a pending one can be decided' },
  document_missing: { status: 422, message: 'no {document} specified' },
  document_refused: { status: 422, message: 'file: {reason}' },
  schema_refused: { status: 400, message: 'file: {reason}' },
  spec_exists: { status: 422, message: 'SpecAlias: the product already has a specification {alias}' },
  too_many_specs: { status: 422, message: 'The product has {max} specifications, the maximum' },
  category_exists: { status: 422, message: 'Name: another category has it' },
  tag_exists: { status: 422, message: 'tag with that name already exists' },
  too_many_tags: { status: 422, message: 'The product has {max} tags, the maximum' },
  doc_exists: { status: 422, message: 'Path: another doc of the product has this path' },
  docs_incomplete: { status: 400, message: 'The order must name every doc of the product once' },
  too_many_changes: { status: 422, message: 'The changelog has {max} entries, the maximum' },
  too_many_docs: { status: 422, message: 'The product has {max} docs, the maximum' },
  client_type_in_use: {
    status: 400,
    message: '{count} products or OAuth clients use it: remove it from them first, or delete it with force=true',
  },
  too_many_client_types: { status: 422, message: 'The provider has {max} client types, the maximum' },
  registration_token_required: {
    status: 422,
    message: 'RegistrationAccessToken: must be sent again when WellKnownURL names another host',
  },
  image_missing: { status: 400, message: 'The {owner} has no {image}' },
  image_too_large: { status: 400, message: 'file: the image has {size} pixels: at most {max} on a side' },
  image_refused: { status: 400, message: 'file: must be a PNG, JPEG, GIF or WebP image: the content is none of them' },
  theme_refused: { status: 400, message: 'file: {reason}' },
  too_many_themes: { status: 422, message: 'There are {max} themes, the maximum: delete one first' },
  theme_in_use: { status: 422, message: 'The theme {reason}, and cannot be deleted' },
  theme_incomplete: {
    status: 422,
    message: 'Pages use templates that the theme does not have: {names}; add them to the theme, or change the pages',
  },
  template_failed: { status: 422, message: 'The template cannot be rendered: {reason}' },
  mail_required: { status: 422, message: 'Enabled: this mail is needed to use or protect accounts' },
  mail_not_failed: { status: 422, message: 'The mail is {state}: only a failed one can be sent again' },
  certificate_unused: { status: 422, message: 'The products of the credential require no client certificate' },
  certificate_attached: { status: 422, message: 'The certificate is attached to the credential already' },
  certificate_in_use: {
    status: 422,
    message: 'Credentials or requests of the app use the certificate: detach it first',
  },
  assigned_certificate_in_use: {
    status: 422,
    message: 'Credentials or requests of apps of the organisation use the certificate: detach it there first',
  },
  too_many_bound: { status: 422, message: 'The credential has {max} certificates, the maximum: detach one first' },
  secret_fixed: { status: 422, message: 'The secret of an OAuth client is changed at its identity provider' },
  overlap_too_long: {
    status: 422,
    message: 'overlap_seconds: the old key may stay valid for {seconds} seconds at most',
  },
  credential_expired: { status: 422, message: 'The credential has expired: request access again' },
  no_former_key: { status: 422, message: 'The credential has no old key that is still valid' },
  rotated_already: { status: 422, message: 'The credential was changed by another request meanwhile' },
  approval_in_progress: { status: 422, message: 'The access request is being approved at the moment' },
});

export type Missing = 'not_found' | 'unknown';

/** Returns the value, or throws when undefined. */
export function present<T>(value: T | undefined, what: string, missing: Missing = 'not_found'): T {
  if (value === undefined) throw problem[missing]({ detail: { what } });
  return value;
}
