import type { Json } from '#base/json.ts';
import { isObject } from '#base/json-tree.ts';
import {
  createTextResult,
  type JsonMembers,
  type McpServerTool,
  type McpToolProvider,
  type McpToolResult,
} from '#base/mcp-server/protocol.ts';
import { Problem } from '#base/problems.ts';
import { type Actor, hasPermission } from '../actor.ts';
import { type AnyOperation, listPermissions } from '../operation.ts';
import { buildOperationTools, describeToolName, type OperationTool } from './operation-tools.ts';
import { shortenSchema } from './shorten-schema.ts';
import { buildToolRequest, suggestToolName, type ToolRequest } from './tool-request.ts';
import { maxResultCharacters, type OperationResponse, toToolResult } from './tool-result.ts';

/** Caller of a message, with the part of the tools that the request selects. */
export interface ManagementCaller {
  readonly actor: Actor;
  readonly isReadOnly: boolean;
  /** Groups of tools; undefined for all. */
  readonly groups: ReadonlySet<string> | undefined;
  /** Sends the request of an operation with the credential of the caller. */
  send(request: ToolRequest): Promise<OperationResponse>;
}

/** Part of a result that holds the text of a schema and the members around it. */
const maxDescribedBytes = maxResultCharacters - 2000;

const describeTool: McpServerTool = {
  name: describeToolName,
  description: 'Returns the whole input schema of a tool whose listed schema is shortened, or one part of it.',
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Name of the tool' },
      path: {
        type: 'array',
        items: { type: 'string' },
        description: 'Member names from the root of the schema, such as ["properties", "body", "properties"]',
      },
    },
    required: ['name'],
    additionalProperties: false,
  },
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

const canCall = ({ actor }: ManagementCaller, it: AnyOperation): boolean =>
  listPermissions(it).every(permission => hasPermission(actor, permission));

const readOnlyReason =
  '; it changes something, and tools are read-only here: read_only in the URL, or mcp.management.allow_writes is off';

/** Management operations as tools: each caller has those of its permissions. */
export function createManagementTools(operations: readonly AnyOperation[]) {
  const tools = buildOperationTools(operations);
  const groups: ReadonlySet<string> = new Set([...tools.values()].map(({ group }) => group));

  const find = (name: string, caller: ManagementCaller): OperationTool | undefined => {
    const found = tools.get(name);
    return found && isOffered(found, caller) ? found : undefined;
  };
  const provider: McpToolProvider<ManagementCaller> = {
    list: caller => [
      describeTool,
      ...[...tools.values()]
        .filter(it => isOffered(it, caller) && canCall(caller, it.operation))
        .map(({ tool }) => tool),
    ],
    call(name, given, caller) {
      if (name === describeToolName) return Promise.resolve(describe(given, caller));
      const found = find(name, caller);
      return found && callOperation(found, given, caller);
    },
    explainUnknown(name, caller) {
      const known = tools.get(name);
      if (known && !known.isReadOnly && caller.isReadOnly) return readOnlyReason;
      if (known) return `; its group is ${known.group}, which the query parameter tools leaves out`;
      return suggestToolName(
        name,
        provider.list(caller).map(tool => tool.name),
      );
    },
  };

  function describe({ name, path = [] }: JsonMembers, caller: ManagementCaller): McpToolResult {
    const found = typeof name === 'string' ? find(name, caller) : undefined;
    if (!found) {
      const reason = typeof name === 'string' ? provider.explainUnknown!(name, caller) : '';
      return createTextResult(`name: there is no such tool${reason}`, true);
    }
    const part = Array.isArray(path) ? getPart(found.inputSchema, path) : undefined;
    if (!isObject(part)) return createTextResult('path: the schema has no such part', true);
    const { schema, isShortened } = shortenSchema(part as JsonMembers, maxDescribedBytes);
    const note = isShortened ? '\n[shortened: give a path to a part of the schema]' : '';
    return createTextResult(`${JSON.stringify(schema)}${note}`);
  }
  return { provider, groups };
}

const isOffered = ({ isReadOnly, group }: OperationTool, caller: ManagementCaller): boolean =>
  (isReadOnly || !caller.isReadOnly) && (caller.groups?.has(group) ?? true);

function getPart(root: Json, path: readonly Json[]): Json | undefined {
  let value: Json | undefined = root;
  for (const name of path) {
    if (typeof name !== 'string' || typeof value !== 'object' || value === null || !Object.hasOwn(value, name))
      return undefined;
    value = (value as JsonMembers)[name];
  }
  return value;
}

/** Errors in arguments are results: an agent can correct its call. */
async function callOperation(tool: OperationTool, given: JsonMembers, caller: ManagementCaller) {
  let request: ToolRequest;
  try {
    request = buildToolRequest(tool, given);
  } catch (error) {
    if (error instanceof Problem) return createTextResult(error.message, true);
    throw error;
  }
  return toToolResult(await caller.send(request));
}
