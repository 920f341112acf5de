import { z } from 'zod';
import { createPublicId } from '#base/ids.ts';
import { freeForm } from '#base/members.ts';
import type { ImportOptions } from '#definition/import-options.ts';
import { importOas } from '#definition/oas-import.ts';
import type { Actor } from '#operations/actor.ts';
import { operation } from '#operations/operation.ts';
import { createdResponse, toCreated, toWarningsMember } from '#operations/shapes.ts';
import { type ApiServices, addApi } from '../api/changes.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import { checkBuiltOas, rejectExtension } from '../oas/documents.ts';
import { problem as apisProblem, creationProblems, ownershipProblems } from '../problems.ts';
import type { Converted } from './converted.ts';

const text = (maxLength: number) => z.string().trim().max(maxLength).default('');

/** Members of every import beside its document. */
const optionMembers = {
  upstream_url: text(2000).describe('Upstream URL; defaults to the host of the document'),
  as_mock: z.boolean().default(false).describe('Enables mock responses from the examples of the document'),
  insert_into_api: z.boolean().default(false).describe('The new API is a version of the API api_id'),
  api_id: text(64).describe('Base of the version, or public id of the new API; generated if empty'),
  version_name: text(200).describe('Name of the new version'),
  base_api_version_name: text(200).describe('Version name of the base; required with its first version'),
  listen_path: text(500).describe('Listen path; the id of the API if empty'),
  custom_domain: text(253),
};
const optionShape = z.object(optionMembers);
type GivenOptions = z.output<typeof optionShape>;

function checkVersion({ insert_into_api, api_id, version_name }: GivenOptions, context: z.RefinementCtx): void {
  if (!insert_into_api) return;
  const required = { api_id, version_name };
  for (const [name, value] of Object.entries(required))
    if (value === '') context.addIssue({ code: 'custom', path: [name], message: 'is required with insert_into_api' });
}

function toOptions(body: GivenOptions): ImportOptions & { readonly apiID: string } {
  const apiID = (!body.insert_into_api && body.api_id) || createPublicId();
  return {
    apiID,
    upstreamURL: body.upstream_url || undefined,
    listenPath: body.listen_path || `/${apiID}/`,
    customDomain: body.custom_domain || undefined,
    mockResponse: body.as_mock || undefined,
  };
}

const toVersion = ({ insert_into_api, api_id, version_name, base_api_version_name }: GivenOptions) =>
  insert_into_api
    ? {
        base_api_id: api_id,
        new_version_name: version_name,
        base_api_version_name: base_api_version_name || undefined,
      }
    : undefined;

const declared = {
  surface: 'dashboard',
  noun: 'apis',
  isRepeatable: true,
  method: 'POST',
  changesTraffic: true,
  permission: 'apis:write',
  returns: createdResponse,
} as const;
const problems = [
  ...creationProblems,
  ...ownershipProblems,
  apisProblem.base_not_found,
  apisProblem.base_of_other_form,
  apisProblem.base_name_missing,
  apisProblem.version_exists,
] as const;

interface ImportRequest {
  readonly actor: Actor;
  readonly body: GivenOptions;
  audit(object: string): void;
}

/** Creates an API from a converted document. */
async function addConverted(
  services: ApiServices,
  { actor, body, audit }: ImportRequest,
  { document, warnings }: Converted,
) {
  const written = checkBuiltOas(importOas(document, toOptions(body)), services);
  const api = await addApi(services, { actor, orgId: actor.orgId, written, version: toVersion(body) });
  audit(api.api_id);
  const all = { warnings: [...warnings, ...(written.warnings ?? [])] };
  return { ...toCreated('API Imported', api.id, api.api_id), ...toWarningsMember(all) };
}

export const importSwagger = operation({
  ...declared,
  name: 'importSwagger',
  path: '/api/import/swagger',
  about:
    'Creates an API in the OpenAPI format from a Swagger 2.0 or OpenAPI 3 document, alone or as a version of another one. `POST /api/apis/oas/import` has more options.',
  body: z
    .object({
      swagger: z
        .union([z.string().min(1), freeForm(z.looseObject({}))])
        .describe('Swagger 2.0 or OpenAPI 3 document: as an object, or as text in JSON or YAML'),
      ...optionMembers,
    })
    .superRefine(checkVersion),
  example: {
    swagger: {
      swagger: '2.0',
      info: { title: 'Orders', version: '1.0.0' },
      host: 'orders.example',
      schemes: ['https'],
      paths: { '/orders': { get: { operationId: 'orders', responses: { 200: { description: 'All orders' } } } } },
    },
  },
  problems: [gwProblem.extension_present, ...problems],
  async handle(call, services: ApiServices) {
    // Loaded on first use: few processes ever convert.
    const { convertImported } = await import('./convert-imported.ts');
    const maxBytes = services.settings['management.max_body_bytes'];
    const converted = convertImported(call.body.swagger, maxBytes);
    rejectExtension(converted.document);
    return addConverted(services, call, converted);
  },
});

export const importBlueprint = operation({
  ...declared,
  name: 'importBlueprint',
  path: '/api/import/blueprint',
  about:
    'Creates an API in the OpenAPI format from an API Blueprint (FORMAT: 1A), alone or as a version of another one. Warnings name what is left out.',
  body: z
    .object({
      blueprint: z.string().min(1).describe('API Blueprint, as in its file'),
      ...optionMembers,
    })
    .superRefine(checkVersion),
  example: {
    blueprint:
      'FORMAT: 1A\nHOST: https://orders.example\n\n# Orders\n\n## Order [/orders/{id}]\n\n### Read [GET]\n\n+ Response 200 (application/json)\n\n        {"id": 17}\n',
  },
  problems,
  async handle(call, services: ApiServices) {
    // Loaded on first use: few processes ever convert.
    const { convertImportedBlueprint } = await import('./convert-imported.ts');
    const maxBytes = services.settings['management.max_body_bytes'];
    return addConverted(services, call, convertImportedBlueprint(call.body.blueprint, maxBytes));
  },
});

export const documentImportOperations = [importSwagger, importBlueprint];
