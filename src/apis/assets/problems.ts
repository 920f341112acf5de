import { problems } from '#base/problems.ts';

export const problem = problems('assets', {
  asset_not_found: { status: 404, message: 'Template not found' },
  asset_exists: { status: 409, message: 'id: another template has it: choose another id' },
  kind_unknown: { status: 422, message: 'kind: there is no kind {kind} of asset; only oas-template' },
  kind_not_listed: { status: 400, message: 'kind: there is no kind {kind} of asset; only oas-template' },
  too_many_assets: { status: 409, message: 'The organisation has {maxAssets} templates already: remove one first' },
  template_not_permitted: { status: 403, message: 'templateID: access denied: you need api_assets:read' },
  template_not_found: { status: 400, message: 'templateID: there is no template {id}' },
});
