import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

/** The official SDK of MCP, as far as tests use it. Its types need libraries of browsers, so they are not imported. */
interface McpSdkServer {
  registerTool(name: string, config: object, run: (args: Record<string, unknown>) => unknown): void;
  registerResource(name: string, uri: string, config: object, read: (uri: URL) => unknown): void;
  registerPrompt(name: string, config: object, get: () => unknown): void;
  connect(transport: unknown): Promise<void>;
}
interface ServerSdk {
  readonly McpServer: new (info: object) => McpSdkServer;
  createMcpHandler(create: () => McpSdkServer): { fetch(request: Request): Promise<Response> };
  readonly WebStandardStreamableHTTPServerTransport: new (
    options: object,
  ) => { handleRequest(request: Request): Promise<Response> };
  fromJsonSchema(schema: object): object;
}

export interface McpSdkClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  getServerCapabilities(): Record<string, unknown> | undefined;
  getNegotiatedProtocolVersion?(): string | undefined;
  listTools(): Promise<{ tools: { name: string }[] }>;
  listPrompts(): Promise<{ prompts: { name: string }[] }>;
  listResources(): Promise<{ resources: { uri: string }[] }>;
  callTool(params: object): Promise<{ content: { text: string }[] }>;
  readResource(params: object): Promise<{ contents: { text: string }[] }>;
  getPrompt(params: object): Promise<unknown>;
}
interface ClientSdk {
  readonly Client: new (info: object, options?: object) => McpSdkClient;
  readonly StreamableHTTPClientTransport: new (url: URL, options?: object) => { readonly sessionId?: string };
}

const load = <T>(name: string): Promise<T> => import(`@modelcontextprotocol/${name}`) as Promise<T>;

export interface McpUpstream {
  /** Handles both revisions of the protocol, each request by itself. */
  readonly url: string;
  /** With sessions, for clients of revision 2025-11-25. */
  readonly sessionUrl: string;
  /** Methods and names of primitives that arrived. */
  readonly calls: string[];
  close(): Promise<void>;
}

const text = (value: string) => ({ content: [{ type: 'text', text: value }] });

function fillServer({ McpServer, fromJsonSchema }: ServerSdk, calls: string[]): McpSdkServer {
  const server = new McpServer({ name: 'test', version: '1' });
  const inputSchema = fromJsonSchema({ type: 'object', properties: { text: { type: 'string' } } });
  for (const name of ['echo', 'danger'])
    server.registerTool(name, { description: name, inputSchema }, args => {
      calls.push(`tools/call ${name}`);
      return text(`${name} ${args.text}`);
    });
  for (const uri of ['file:///pub/a', 'file:///secret'])
    server.registerResource(uri, uri, { mimeType: 'text/plain' }, read => {
      calls.push(`resources/read ${read.href}`);
      return { contents: [{ uri: read.href, text: `content of ${uri}` }] };
    });
  for (const name of ['greet', 'hidden'])
    server.registerPrompt(name, { description: name }, () => ({
      messages: [{ role: 'user', content: { type: 'text', text: name } }],
    }));
  return server;
}

/** A real MCP server, on the official SDK. */
export async function startMcpServer(): Promise<McpUpstream> {
  const sdk = await load<ServerSdk>('server');
  const calls: string[] = [];
  const handler = sdk.createMcpHandler(() => fillServer(sdk, calls));
  const sessions = new Map<string, { handleRequest(request: Request): Promise<Response> }>();

  async function handleSession(request: Request): Promise<Response> {
    const known = sessions.get(request.headers.get('mcp-session-id') ?? '');
    if (known) return known.handleRequest(request);
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id: string) => void sessions.set(id, transport),
    });
    await fillServer(sdk, calls).connect(transport);
    return transport.handleRequest(request);
  }

  const server = createServer((request, response) => {
    const handle = request.url?.startsWith('/sessions') ? handleSession : handler.fetch;
    void toFetchRequest(request)
      .then(it => handle(it))
      .then(it => writeFetchResponse(it, response))
      .catch(error => response.destroy(error as Error));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${url}/mcp`,
    sessionUrl: `${url}/sessions`,
    calls,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function toFetchRequest(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.entries(request.headersDistinct).flatMap(([name, values]) =>
    (values ?? []).map((value): [string, string] => [name, value]),
  );
  const body = chunks.length > 0 ? { body: Buffer.concat(chunks) } : {};
  return new Request(`http://${request.headers.host}${request.url}`, { method: request.method!, headers, ...body });
}

function writeFetchResponse(response: Response, writer: ServerResponse): void {
  writer.writeHead(response.status, Object.fromEntries(response.headers));
  writer.flushHeaders();
  if (response.body) Readable.fromWeb(response.body as never).pipe(writer);
  else writer.end();
}

export interface McpClientOptions {
  /** The newest revision that client and server have, in place of 2025-11-25. */
  readonly isModern?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A real MCP client, on the official SDK, connected to the URL. */
export async function connectMcpClient(url: string, { isModern, headers = {} }: McpClientOptions = {}) {
  const { Client, StreamableHTTPClientTransport } = await load<ClientSdk>('client');
  const negotiation = isModern ? { versionNegotiation: { mode: 'auto' } } : {};
  const client = new Client({ name: 'test client', version: '1' }, negotiation);
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  await client.connect(transport);
  return { client, transport };
}
