import { z } from 'zod';
import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { mcpServerName } from '#definition/document-members.ts';
import type { RestTool } from '#definition/rest-tools/rest-tool.ts';
import type { Records } from '#storage/records.ts';
import type { StoredApi } from '../api/schema.ts';
import { listSourceTools } from '../api/source-tools.ts';
import type { ApiStore } from '../api/store.ts';
import { listToolSources } from '../api/tool-source-check.ts';
import { versionQuery } from '../api/versions.ts';
import type { McpApi } from './documents.ts';

const flag = (name: string) =>
  z
    .enum(['true', 'false'], { error: `invalid ${name} query parameter` })
    .default('false')
    .transform(text => text === 'true');

export const expandQuery = z.object({
  expand: flag('expand').describe(
    'Adds every tool of an MCP proxy over a REST API, with the schemas that follow from its operation',
  ),
});

/** Query of a create. */
export const mcpCreationQuery = versionQuery.extend({
  expand: flag('expand').describe('Adds the document with every tool of an MCP proxy over a REST API to the response'),
  dryRun: flag('dryRun').describe('Checks the document as a create does, and returns it without storing it'),
});
type CreationOptions = Pick<z.output<typeof mcpCreationQuery>, 'expand' | 'dryRun'>;

/** The document that a create stored, or would store. */
export const createdDocument = z.looseObject({}).optional().describe('With `dryRun` or `expand`: the document');

interface CreationServices {
  readonly apis: ApiStore;
  readonly records: Records;
}

interface CreatedMcp<T> {
  readonly result: T;
  readonly document: { readonly document?: JsonObject };
}

/** Runs a create, or all of it but its effect; `toApi` is the API as the caller may see it. */
export function runCreation<T>(
  { apis, records }: CreationServices,
  { expand, dryRun }: CreationOptions,
  create: () => Promise<T>,
  toApi: (result: T) => StoredApi,
): Promise<CreatedMcp<T>> {
  async function run(): Promise<CreatedMcp<T>> {
    const result = await create();
    if (!expand && !dryRun) return { result, document: {} };
    const api = toApi(result) as McpApi;
    return { result, document: { document: expand ? await expandTools(apis, api, api.definition) : api.definition } };
  }
  return dryRun ? records.dryRun(run) : records.write(run);
}

/** Document of an MCP proxy over a REST API, with every tool and what follows from its operation. */
export async function expandTools<T extends JsonObject>(apis: ApiStore, api: McpApi, document: T): Promise<T> {
  const [name] = listToolSources(api);
  const source = name === undefined ? undefined : await apis.get(api.org_id, name);
  if (source?.kind !== 'oas') return document;
  const openApi = objectOrEmpty(source.definition);
  const extension = objectOrEmpty(document[mcpServerName]);
  const tools = listSourceTools(openApi, extension);
  return { ...document, [mcpServerName]: { ...extension, primitives: tools.map(describeTool) } };
}

const describeTool = (tool: RestTool): JsonObject => ({
  source: { path: tool.path, method: tool.method },
  name: tool.name,
  description: tool.description,
  annotations: { ...tool.annotations },
  inputSchema: tool.inputSchema,
  ...(tool.outputSchema && { outputSchema: tool.outputSchema }),
  parameterLocations: mapParameters(tool, ({ place }) => place),
  parameterSourceNames: mapParameters(tool, ({ name }) => name),
  parameterSerializations: mapParameters(tool, ({ style, isExploded }) => ({ style, explode: isExploded })),
  parameterOrder: tool.parameters.map(({ argument }) => argument),
  ...(tool.body && { requestBodyContentType: tool.body.contentType }),
});

const mapParameters = (tool: RestTool, toValue: (parameter: RestTool['parameters'][number]) => unknown): JsonObject =>
  Object.fromEntries(tool.parameters.map(parameter => [parameter.argument, toValue(parameter)]));
