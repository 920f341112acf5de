import { z } from 'zod';
import { freeForm } from '#base/members.ts';
import { definitionSchema } from '#definition/definition-schema.ts';
import { extensionName } from '#definition/document-members.ts';
import { exportFileName } from '#definition/oas-export.ts';
import { importOas } from '#definition/oas-import.ts';
import { operation } from '#operations/operation.ts';
import { modifiedResponse, toModified, toWarningsMember } from '#operations/shapes.ts';
import { putApi } from '../api/changes.ts';
import { plainDocumentExample } from '../api/examples.ts';
import { resolveOwner } from '../api/owner.ts';
import { versionQuery } from '../api/versions.ts';
import { problem as apisProblem } from '../problems.ts';
import { ensureSchemaVersion } from '../schemas/operations.ts';
import type { GwApiServices, ReadServices } from './changes.ts';
import {
  checkBuiltDocument,
  configurationQuery,
  isDocumentApi,
  isPublic,
  modeQuery,
  rejectSwagger,
  requireDocument,
  toDocumentView,
  toImportOptions,
} from './documents.ts';
import { problem } from './problems.ts';
import { createProblems, declared, params } from './shared-operations.ts';

const file = { produces: 'application/octet-stream', query: modeQuery, returns: z.string() } as const;
const fileText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const contentDisposition = (id: string, asPublic: boolean) => `attachment;filename="${exportFileName(id, asPublic)}"`;

export const importGatewayDocument = operation({
  ...declared,
  name: 'importGatewayDocument',
  method: 'POST',
  changesTraffic: true,
  path: '/gw/apis/oas/import',
  about:
    'Creates an API from a plain OpenAPI document, configured by the parameters. Replaces an API with the same id in the same organisation; the action of the response is then modified.',
  query: z.object({
    ...configurationQuery.shape,
    apiID: z.string().max(64).optional().describe('Public id of the new API; generated if empty'),
    org_id: z.string().max(64).optional().describe('Id of the organisation; defaults to the first one'),
    ...versionQuery.shape,
  }),
  body: freeForm(z.looseObject({})),
  example: plainDocumentExample,
  accepts: 'document',
  returns: modifiedResponse,
  problems: [problem.extension_present, ...createProblems],
  async handle({ actor, query, body, audit }, services: GwApiServices) {
    rejectSwagger(body);
    if (extensionName in body) throw problem.extension_present();
    const written = checkBuiltDocument(
      importOas(body, { ...toImportOptions(query), apiID: query.apiID || undefined }),
      services,
    );
    const orgId = await resolveOwner(services, query.org_id ?? '');
    const { api, action } = await putApi(services, { actor, orgId, written, version: query });
    audit(api.api_id, orgId);
    return { ...toModified(api.api_id, action), ...toWarningsMember(written) };
  },
});

export const exportGatewayDocuments = operation({
  ...declared,
  ...file,
  name: 'exportGatewayDocuments',
  method: 'GET',
  path: '/gw/apis/oas/export',
  about: 'Returns the documents of all APIs in the OpenAPI format as one file.',
  async handle({ query, header }, { apis, readGatewayUrl }: ReadServices) {
    const asPublic = isPublic(query);
    const found = (await apis.all()).filter(isDocumentApi);
    header('content-disposition', contentDisposition('', asPublic));
    return fileText(found.map(api => toDocumentView(api, asPublic, readGatewayUrl())));
  },
});

export const exportGatewayDocument = operation({
  ...declared,
  ...file,
  name: 'exportGatewayDocument',
  method: 'GET',
  path: '/gw/apis/oas/{apiId}/export',
  about: 'Returns the document of an API as a file.',
  params,
  problems: [apisProblem.api_not_found, problem.is_classic],
  async handle({ params: { apiId }, query, header }, { apis, readGatewayUrl }: ReadServices) {
    const asPublic = isPublic(query);
    const api = await requireDocument(apis, apiId);
    header('content-disposition', contentDisposition(api.api_id, asPublic));
    return fileText(toDocumentView(api, asPublic, readGatewayUrl()));
  },
});

export const getDocumentSchema = operation({
  ...declared,
  noun: 'schema',
  name: 'getDocumentSchema',
  method: 'GET',
  path: '/gw/schema',
  about: 'Returns the JSON Schema of an OpenAPI document with x-gw-api-gateway.',
  query: z.object({ oasVersion: z.string().max(100).optional().describe('OpenAPI version; defaults to any') }),
  returns: z.object({ status: z.string(), message: z.string(), schema: z.looseObject({}) }),
  problems: [problem.no_schema],
  async handle({ query: { oasVersion: version } }) {
    ensureSchemaVersion(version, { status: 'Failed' });
    return { status: 'Success', message: '', schema: definitionSchema('oas') };
  },
});

export const gwFileOperations = [
  importGatewayDocument,
  exportGatewayDocuments,
  exportGatewayDocument,
  getDocumentSchema,
];
