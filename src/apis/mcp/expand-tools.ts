import { z } from 'zod';
import { type JsonObject, objectOrEmpty } from '#base/json-tree.ts';
import { mcpServerName } from '#definition/document-members.ts';
import type { RestTool } from '#definition/rest-tools/rest-tool.ts';
import { listSourceTools } from '../api/source-tools.ts';
import type { ApiStore } from '../api/store.ts';
import { listToolSources } from '../api/tool-source-check.ts';
import type { McpApi } from './documents.ts';

export const expandQuery = z.object({
  expand: z
    .enum(['true', 'false'], { error: 'invalid expand query parameter' })
    .default('false')
    .transform(text => text === 'true')
    .describe('Adds every tool of an MCP proxy over a REST API, with the schemas that follow from its operation'),
});

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
