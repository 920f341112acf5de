/** Facts of an MCP proxy, from its document. */
export interface McpOutline {
  readonly id: string;
  readonly name: string;
  readonly listenPath: string;
  readonly upstream: string;
  readonly isActive: boolean;
  readonly tools: Readonly<Record<string, ToolRule>>;
}

export type ToolRule = 'allowed' | 'blocked' | 'open';

type Loose = Readonly<Record<string, unknown>>;
const asObject = (value: unknown): Loose => (typeof value === 'object' && value !== null ? (value as Loose) : {});
const isEnabled = (value: unknown) => asObject(value).enabled === true;

export const extensionMember = 'x-gw-api-gateway';

function toRule(entry: unknown): ToolRule {
  const { allow, block } = asObject(entry) as { allow?: unknown; block?: unknown };
  return isEnabled(block) ? 'blocked' : isEnabled(allow) ? 'allowed' : 'open';
}

export function toMcpOutline(document: unknown): McpOutline {
  const gateway = asObject(asObject(document)[extensionMember]);
  const info = asObject(gateway.info);
  const server = asObject(gateway.server);
  const tools = Object.entries(asObject(asObject(gateway.middleware).mcpTools));
  return {
    id: String(info.id ?? ''),
    name: String(info.name ?? ''),
    listenPath: String(asObject(server.listenPath).value ?? ''),
    upstream: String(asObject(gateway.upstream).url ?? ''),
    isActive: asObject(info.state).active === true,
    tools: Object.fromEntries(tools.map(([name, entry]) => [name, toRule(entry)])),
  };
}

/** API whose operations are the tools; undefined for a proxy of an MCP server. */
export const findRestApi = ({ upstream }: McpOutline): string | undefined =>
  /^gw:\/\/([^/]+)\/mcp$/.exec(upstream)?.[1];

/** The document with one tool blocked or not; everything else stays as it is. */
export function setBlocked(document: unknown, tool: string, isBlocked: boolean): Loose {
  const root = asObject(document);
  const gateway = asObject(root[extensionMember]);
  const middleware = asObject(gateway.middleware);
  const tools = asObject(middleware.mcpTools);
  const { block: _block, ...rest } = asObject(tools[tool]) as Record<string, unknown>;
  const entry = isBlocked ? { ...rest, block: { enabled: true } } : rest;
  const mcpTools = { ...tools, [tool]: entry };
  return { ...root, [extensionMember]: { ...gateway, middleware: { ...middleware, mcpTools } } };
}
