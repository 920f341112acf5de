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
  default_team: { status: 422, message: 'The default team of an organisation cannot be deleted' },
  last_audience: {
    status: 422,
    message: 'Without it these catalogues have no audience, and are for all developers: {names}',
  },
  audience_exists: { status: 422, message: 'TeamID: the team is in the audience already' },
  attribute_exists: { status: 422, message: 'Identifier: another attribute has it' },
  attribute_type_fixed: { status: 422, message: 'Type: cannot change: create another attribute' },
  attribute_read_only: { status: 422, message: 'Value: is set already and can be written only once' },
  attribute_required: { status: 422, message: 'Value: is required' },
  credential_fixed: { status: 422, message: '{members}: cannot change: create another credential' },
  too_many_attributes: { status: 422, message: 'There can be at most {maxAttributes} custom attributes' },
  page_exists: { status: 422, message: 'A page with this Path or CID already exists' },
  block_exists: { status: 422, message: 'A block of the page with this Name, or one with this CID, already exists' },
  blocks_too_long: {
    status: 422,
    message: 'The blocks of this list have more than {maxLength} characters: ask for fewer with per_page',
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
  not_pending: { status: 422, message: 'The access request is {status}: only a pending one can be decided' },
  document_missing: { status: 422, message: 'no {document} specified' },
  document_refused: { status: 422, message: 'file: {reason}' },
  schema_refused: { status: 400, message: 'file: {reason}' },
  spec_exists: { status: 422, message: 'SpecAlias: the product already has a specification {alias}' },
  too_many_specs: { status: 422, message: 'The product has {max} specifications, the maximum' },
  tag_exists: { status: 422, message: 'tag with that name already exists' },
  too_many_tags: { status: 422, message: 'The product has {max} tags, the maximum' },
  doc_exists: { status: 422, message: 'Path: another doc of the product has this path' },
  docs_incomplete: { status: 400, message: 'The order must name every doc of the product once' },
  too_many_docs: { status: 422, message: 'The product has {max} docs, the maximum' },
  client_type_in_use: {
    status: 400,
    message: '{count} products use it: remove it from them first, or delete it with force=true',
  },
  too_many_client_types: { status: 422, message: 'The provider has {max} client types, the maximum' },
  registration_token_required: {
    status: 422,
    message: 'RegistrationAccessToken: must be sent again when WellKnownURL names another host',
  },
  image_missing: { status: 400, message: 'The product has no {image}' },
  image_refused: { status: 400, message: 'file: must be a PNG, JPEG, GIF or WebP image: the content is none of them' },
  theme_refused: { status: 400, message: 'file: {reason}' },
  too_many_themes: { status: 422, message: 'There are {max} themes, the maximum: delete one first' },
  theme_in_use: { status: 422, message: 'The theme {reason}, and cannot be deleted' },
  theme_incomplete: {
    status: 422,
    message: 'Pages use templates that the theme does not have: {names}; add them to the theme, or change the pages',
  },
  template_failed: { status: 422, message: 'The template cannot be rendered: {reason}' },
  rotated_already: { status: 422, message: 'The credential was changed by another request meanwhile' },
  approval_in_progress: { status: 422, message: 'The access request is being approved at the moment' },
});

export type Missing = 'not_found' | 'unknown';

/** Returns the value, or throws when undefined. */
export function present<T>(value: T | undefined, what: string, missing: Missing = 'not_found'): T {
  if (value === undefined) throw problem[missing]({ detail: { what } });
  return value;
}
