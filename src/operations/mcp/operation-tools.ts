import type { Json } from '#base/json.ts';
import type { JsonMembers, McpServerTool } from '#base/mcp-server/protocol.ts';
import { eventStreamType } from '../event-streams.ts';
import { describeOperation } from '../openapi.ts';
import type { AnyOperation } from '../operation.ts';
import { shortenSchema } from './shorten-schema.ts';

/** Place of an argument in the HTTP request of its operation. */
export type ArgumentPlace = 'path' | 'query' | 'header';

/** A management operation as a tool. */
export interface OperationTool {
  readonly operation: AnyOperation;
  readonly tool: McpServerTool;
  /** The input schema before it is shortened. */
  readonly inputSchema: JsonMembers;
  readonly places: ReadonlyMap<string, ArgumentPlace>;
  readonly isReadOnly: boolean;
  /** Name of the group of tools that a client selects. */
  readonly group: string;
}

/** Argument names of headers that have no use for tools: representation, and bodies that are not sent again. */
const hiddenHeaders = new Set(['user-agent', 'last-event-id', 'if-none-match']);
const maxInputSchemaBytes = 6144;
export const describeToolName = 'gw_describe_tool';

/** Dashboard operations for callers with an access key; sign-ins, browser sessions and streams are left out. */
const isTool = ({ surface, permission, path, produces, streamsFile, accepts }: AnyOperation): boolean =>
  surface === 'dashboard' &&
  permission !== 'public' &&
  !path.startsWith('/api/session') &&
  produces !== eventStreamType &&
  !streamsFile &&
  accepts !== 'form';

/** Tools of all operations by name. */
export function buildOperationTools(operations: readonly AnyOperation[]): ReadonlyMap<string, OperationTool> {
  const tools = new Map<string, OperationTool>();
  for (const built of operations.filter(isTool).map(buildTool)) {
    if (tools.has(built.tool.name)) throw new Error(`two operations have the tool name ${built.tool.name}`);
    tools.set(built.tool.name, built);
  }
  return tools;
}

const toToolName = ({ tool, name }: AnyOperation): string =>
  tool?.name ?? `gw_${name.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)}`;

interface DescribedParameter {
  readonly name: string;
  readonly in: ArgumentPlace;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonMembers;
}

function buildTool(it: AnyOperation): OperationTool {
  const described = describeOperation(it);
  const parameters = (described.parameters as unknown as DescribedParameter[]).filter(
    parameter => parameter.in !== 'header' || !hiddenHeaders.has(parameter.name),
  );
  const places = new Map(parameters.map(parameter => [parameter.name, parameter.in]));
  const body = it.body && readBodySchema(it, described);
  if (places.size !== parameters.length || (body && places.has('body')))
    throw new Error(`arguments of ${it.name} share a name`);
  const inputSchema = buildInputSchema(parameters, body);
  const { schema, isShortened } = shortenSchema(inputSchema, maxInputSchemaBytes);
  const name = toToolName(it);
  const isReadOnly = it.method === 'GET' || it.changesNothing === true;
  const note = isShortened ? ` The input schema is shortened: ${describeToolName} returns all of it.` : '';
  return {
    operation: it,
    inputSchema,
    places,
    isReadOnly,
    group: it.noun.replaceAll(' ', '-'),
    tool: {
      name,
      description: `${it.tool?.about ?? it.about}${note}`,
      inputSchema: schema,
      annotations: {
        readOnlyHint: isReadOnly,
        destructiveHint: !isReadOnly && it.method !== 'POST',
        idempotentHint: isReadOnly || it.method === 'PUT' || it.method === 'DELETE',
        openWorldHint: false,
      },
    },
  };
}

function buildInputSchema(parameters: readonly DescribedParameter[], body: JsonMembers | undefined): JsonMembers {
  const properties: JsonMembers = {};
  for (const { name, schema, description } of parameters)
    properties[name] = { ...schema, ...(description !== undefined && { description }) };
  if (body) properties.body = body;
  const required = parameters.filter(parameter => parameter.required).map(({ name }) => name);
  if (body) required.push('body');
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** Schema of the body of the first media type; of a body inside an envelope, that of the body alone. */
function readBodySchema({ envelope, accepts }: AnyOperation, described: { [name: string]: Json }): JsonMembers {
  if (accepts === 'text' || accepts === 'upload') return { type: 'string', description: 'Contents of the file' };
  const { content } = described.requestBody as { content: { [type: string]: { schema: JsonMembers } } };
  const { schema } = Object.values(content)[0]!;
  return envelope ? ((schema.anyOf as JsonMembers[])[0] as JsonMembers) : schema;
}
