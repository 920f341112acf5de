import { z } from 'zod';
import { isYamlType, parseMediaType } from '#base/media-type.ts';
import { freeForm } from '#base/members.ts';
import type { Settings } from '#base/settings.ts';
import { toYamlText } from '#base/yaml.ts';
import { exportFileName } from '#definition/oas-export.ts';
import { importOas } from '#definition/oas-import.ts';
import { type OperationCall, operation } from '#operations/operation.ts';
import { createdResponse, toCreated, toWarningsMember } from '#operations/shapes.ts';
import { wholeList } from '#storage/collection.ts';
import type { ReadGatewayUrl } from '../api/api-address.ts';
import { addApi } from '../api/changes.ts';
import { plainDocumentExample } from '../api/examples.ts';
import { maskSecretsFor } from '../api/secrets.ts';
import type { ApiStore } from '../api/store.ts';
import { versionQuery } from '../api/versions.ts';
import type { AssetStore } from '../assets/store.ts';
import { findTemplate, templateProblems, templateQuery } from '../assets/templates.ts';
import {
  configurationQuery,
  type DocumentApi,
  isPublic,
  modeQuery,
  toDocumentView,
  toImportOptions,
} from '../gw/documents.ts';
import { problem as gwProblem } from '../gw/problems.ts';
import type { Ownership } from '../owners/store.ts';
import { creationProblems, ownershipProblems, problem, versionProblems } from '../problems.ts';
import { checkBuiltOas, rejectExtension, requireOwnDocument } from './documents.ts';
import type { PlainImportServices } from './operations.ts';
import { fetchProblems, readPlainDocument } from './plain-document.ts';
import { checkVersionOptions, previewDocument } from './preview.ts';

const params = z.object({ apiId: z.string().describe('Public or database id of the API') });
const declared = { surface: 'dashboard', noun: 'oas' } as const;

export const importDocument = operation({
  ...declared,
  name: 'importDocument',
  tool: {
    name: 'gw_publish_openapi',
    about: 'Publishes an API: creates it from a plain OpenAPI document, configured by the other arguments.',
  },
  method: 'POST',
  changesTraffic: true,
  path: '/api/apis/oas/import',
  about:
    'Creates an API from a plain OpenAPI document, sent as JSON, YAML, a file or {"url": …}, configured by the parameters.',
  permission: 'apis:write',
  query: z.object({
    ...configurationQuery.shape,
    apiID: z.string().max(64).optional().describe('Public id of the new API; generated if empty'),
    ...versionQuery.shape,
    ...templateQuery.shape,
  }),
  body: freeForm(z.looseObject({})),
  example: plainDocumentExample,
  accepts: 'document',
  returns: createdResponse,
  problems: [
    gwProblem.extension_present,
    ...creationProblems,
    ...ownershipProblems,
    ...versionProblems,
    ...fetchProblems,
    ...templateProblems,
  ],
  async handle({ actor, query, body, audit }, services: PlainImportServices & { assets: AssetStore }) {
    const template = await findTemplate(services.assets, actor, query);
    const plain = await readPlainDocument(body, actor.orgId, services);
    rejectExtension(plain);
    const options = { ...toImportOptions(query), apiID: query.apiID || undefined };
    const written = checkBuiltOas(importOas(plain, options, template), services);
    const api = await addApi(services, { actor, orgId: actor.orgId, written, version: query });
    audit(api.api_id);
    return { ...toCreated('API created', api.id, api.api_id), ...toWarningsMember(written) };
  },
});

interface DryRunServices {
  apis: ApiStore;
  assets: AssetStore;
  settings: Settings;
}

export const dryRunDocument = operation({
  ...declared,
  name: 'dryRunDocument',
  tool: { name: 'gw_preview_openapi' },
  changesNothing: true,
  method: 'POST',
  path: '/api/apis/oas/dry-run',
  about:
    'Returns the document that an import or a patch would store, and stores nothing: oas is a plain document, gw_oas an existing one to update.',
  permission: 'apis:write',
  query: z.object({ ...configurationQuery.shape, ...versionQuery.shape, ...templateQuery.shape }),
  body: z.object({
    oas: freeForm(z.looseObject({})).optional().describe('Plain OpenAPI document'),
    gw_oas: freeForm(z.looseObject({})).optional().describe('Document with x-gw-api-gateway'),
  }),
  example: { oas: plainDocumentExample },
  returns: z.looseObject({ 'x-gw-api-gateway': z.looseObject({}) }),
  problems: [
    gwProblem.extension_missing,
    gwProblem.extension_present,
    problem.document_missing,
    ...versionProblems,
    ...templateProblems,
  ],
  async handle({ actor, query, body }, { apis, assets, settings }: DryRunServices) {
    await checkVersionOptions(apis, actor.orgId, query);
    const template = await findTemplate(assets, actor, query);
    return previewDocument({ ...body, template }, toImportOptions(query), { settings }).definition;
  },
});

const file = {
  ...declared,
  method: 'GET',
  permission: 'apis:read',
  produces: 'application/octet-stream',
  query: modeQuery,
  headers: { 'content-type': 'application/x-yaml selects YAML instead of JSON' },
  returns: z.string(),
} as const;

type FileCall = Pick<OperationCall<unknown, z.output<typeof modeQuery>, unknown>, 'query' | 'header' | 'requestHeader'>;

/** Formats a file as JSON, or as YAML where the request has its content type. */
function formatFile({ query, header, requestHeader }: FileCall, apiId: string, value: unknown): string {
  const isYaml = isYamlType(parseMediaType(requestHeader('content-type')));
  const name = exportFileName(apiId, isPublic(query)).replace(/json$/, isYaml ? 'yaml' : 'json');
  header('content-disposition', `attachment;filename="${name}"`);
  return isYaml ? toYamlText(value) : `${JSON.stringify(value, null, 2)}\n`;
}

export const exportDocument = operation({
  ...file,
  name: 'exportDocument',
  path: '/api/apis/oas/{apiId}/export',
  about: 'Returns the document of an API as a file.',
  params,
  problems: [problem.detail_not_found, gwProblem.is_classic],
  async handle(call, { apis, readGatewayUrl }: { apis: ApiStore; readGatewayUrl: ReadGatewayUrl }) {
    const api = maskSecretsFor(call.actor, await requireOwnDocument(apis, call)) as DocumentApi;
    return formatFile(call, api.api_id, toDocumentView(api, isPublic(call.query), readGatewayUrl()));
  },
});

interface ExportServices {
  apis: ApiStore;
  readGatewayUrl: ReadGatewayUrl;
  ownership: Ownership;
}

export const exportDocuments = operation({
  ...file,
  name: 'exportDocuments',
  path: '/api/apis/oas/export',
  about: 'Returns the documents of all APIs of the caller’s organisation in the OpenAPI format as one file.',
  async handle(call, { apis, readGatewayUrl, ownership }: ExportServices) {
    const { actor, query } = call;
    const { apiIds: hidden } = await ownership.findHidden(actor);
    const { items } = await apis.page(actor.orgId, { kind: 'oas', hidden }, 'created_at', wholeList);
    const masked = items.map(api => maskSecretsFor(actor, api) as DocumentApi);
    return formatFile(
      call,
      '',
      masked.map(api => toDocumentView(api, isPublic(query), readGatewayUrl())),
    );
  },
});

export const oasFileOperations = [importDocument, dryRunDocument, exportDocument, exportDocuments];
