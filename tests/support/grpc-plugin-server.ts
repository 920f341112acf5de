import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Members of `coprocess.Object` as the reference implementation of Protocol Buffers decodes them. */
export interface PluginObject {
  hook_type: string;
  hook_name: string;
  request: Record<string, unknown> & {
    headers: Record<string, string>;
    set_headers: Record<string, string>;
    delete_headers: string[];
    add_params: Record<string, string>;
    delete_params: string[];
    return_overrides: Record<string, unknown>;
    raw_body: Buffer;
    body: string;
    url: string;
    method: string;
  };
  session: (Record<string, unknown> & { metadata: Record<string, string> }) | null;
  metadata: Record<string, string>;
  spec: Record<string, string>;
  response: {
    status_code: number;
    raw_body: Buffer;
    body: string;
    headers: Record<string, string>;
    multivalue_headers: { key: string; values: string[] }[];
  } | null;
}

type Reply = object | Promise<object>;
export type PluginHandler = (object: PluginObject) => Reply;

export interface GrpcPluginServer {
  readonly port: number;
  /** Handlers by hook name; another hook gets its object back. */
  readonly hooks: Record<string, PluginHandler>;
  /** Objects that arrived, in order. */
  readonly objects: PluginObject[];
  readonly events: unknown[];
  close(): void;
}

interface ServerCall<T> {
  readonly request: T;
}
type Callback = (error: object | null, reply?: unknown) => void;

interface GrpcPackage {
  readonly Server: new (
    options: object,
  ) => {
    addService(service: object, methods: object): void;
    bindAsync(address: string, credentials: object, done: (error: Error | null, port: number) => void): void;
    forceShutdown(): void;
  };
  readonly ServerCredentials: {
    createInsecure(): object;
    createSsl(roots: Buffer | null, pairs: { private_key: Buffer; cert_chain: Buffer }[], checks?: boolean): object;
  };
  loadPackageDefinition(definition: object): { coprocess: { Dispatcher: { service: object } } };
}
interface LoaderPackage {
  loadSync(file: string, options: object): object;
}

/** Loaded by name: only the tests of gRPC plugins need the packages. */
const require = createRequire(import.meta.url);
const protoFile = join(import.meta.dirname, '../../docs/guide/coprocess.proto');

export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
  /** Authority of client certificates; then one is required. */
  readonly clientCa?: string;
}

/** A server of gRPC plugins by the implementation that most servers use, with the proto file of the guide. */
export async function startGrpcPluginServer(tls?: ServerTls, port = 0): Promise<GrpcPluginServer> {
  const grpc = require('@grpc/grpc-js') as GrpcPackage;
  const loader = require('@grpc/proto-loader') as LoaderPackage;
  const definition = loader.loadSync(protoFile, { keepCase: true, longs: Number, enums: String, defaults: true });
  const { service } = grpc.loadPackageDefinition(definition).coprocess.Dispatcher;
  const hooks: Record<string, PluginHandler> = {};
  const objects: PluginObject[] = [];
  const events: unknown[] = [];
  const server = new grpc.Server({ 'grpc.max_receive_message_length': -1, 'grpc.max_send_message_length': -1 });
  server.addService(service, {
    async Dispatch({ request }: ServerCall<PluginObject>, callback: Callback) {
      objects.push(structuredClone(request));
      try {
        callback(null, (await hooks[request.hook_name]?.(request)) ?? request);
      } catch (error) {
        callback(error as object);
      }
    },
    DispatchEvent({ request }: ServerCall<{ payload: string }>, callback: Callback) {
      events.push(JSON.parse(request.payload));
      callback(null, {});
    },
  });
  const credentials = tls
    ? grpc.ServerCredentials.createSsl(
        tls.clientCa === undefined ? null : Buffer.from(tls.clientCa),
        [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) }],
        tls.clientCa !== undefined,
      )
    : grpc.ServerCredentials.createInsecure();
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) => (error ? reject(error) : resolve(found))),
  );
  assert.ok(bound > 0);
  return { port: bound, hooks, objects, events, close: () => server.forceShutdown() };
}
