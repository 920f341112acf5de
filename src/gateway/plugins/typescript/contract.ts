/**
 * Types of plugins in TypeScript: `import type { RequestHook } from 'gatewright/plugin'`. The file stands alone, so that
 * plugins can be checked against it without the gateway.
 */

/** Headers (names in any case) or query parameters of a message. Reads see the changes of the hook. */
export interface HookValues {
  /** First value of a name. */
  get(name: string): string | undefined;
  getAll(name: string): readonly string[];
  has(name: string): boolean;
  names(): readonly string[];
  /** Replaces all values of a name. */
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  delete(name: string): void;
}

export interface HookRequest {
  readonly method: string;
  readonly scheme: string;
  /** As the client sent it. */
  readonly receivedUrl: string;
  /** Path and query for the upstream. Can be set, also to `gw://` and the name of another API. */
  url: string;
  readonly headers: HookValues;
  /** Parameters of the query; changes are applied after `url`. */
  readonly query: HookValues;
  /** Can be set. */
  body: string;
  /** Parses the body. */
  json(): unknown;
}

export interface HookResponse {
  /** 200 to 599. Can be set. */
  status: number;
  readonly headers: HookValues;
  /** Can be set. */
  body: string;
  /** Parses the body. */
  json(): unknown;
}

/** Response of a request hook; it ends the request. */
export interface HookReply {
  /** 200, or 500 with `error`. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text, or a value that is sent as JSON. */
  readonly body?: unknown;
  /** Message of an error response in the format of the API; in place of `body`. */
  readonly error?: string;
}

/** Session of a key: its members without secrets. */
export interface HookSession {
  readonly org_id: string;
  readonly alias: string;
  readonly key_id: string;
  readonly apply_policies: readonly string[];
  readonly tags: readonly string[];
  /** Can be changed; texts only. */
  meta_data: Record<string, unknown>;
  readonly [member: string]: unknown;
}

export interface HookFetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface HookFetchResponse {
  readonly status: number;
  /** True for 200 to 299. */
  readonly ok: boolean;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  json(): unknown;
}

/** Values that all threads and nodes share, by organisation. */
export interface HookStorage {
  get(key: string): Promise<string | undefined>;
  /** Without a time, or with 0, the value does not expire. */
  set(key: string, value: string, ttlSeconds?: number): Promise<void>;
  /** False where the key has a value already. */
  setIfAbsent(key: string, value: string, ttlSeconds?: number): Promise<boolean>;
  delete(key: string): Promise<void>;
  increment(key: string): Promise<number>;
}

export interface HookContext<Config = Record<string, unknown>> {
  readonly api: { readonly id: string; readonly orgId: string };
  /** Data of the definition (`config_data`); empty without any. */
  readonly config: Config;
  /** After authentication, where the definition sets `require_session`. */
  readonly session: HookSession | undefined;
  /** Writes a line to the log of the gateway. */
  log(text: string): void;
  /** Request to another server; rejects without a response. Networks are those that the organisation may use. */
  fetch(url: string, init?: HookFetchInit): Promise<HookFetchResponse>;
  readonly storage: HookStorage;
}

type Awaitable<T> = T | Promise<T>;

/** Hook of the lists `pre`, `post_key_auth` and `post`: changes the request; a returned response ends it. */
export type RequestHook<Config = Record<string, unknown>> = (
  request: HookRequest,
  context: HookContext<Config>,
) => Awaitable<HookReply | undefined> | Awaitable<void>;

/** Identity that an auth hook found: members of a key, and a text that identifies the client. */
export interface HookIdentity {
  readonly session: Readonly<Record<string, unknown>>;
  readonly id: string;
}

/** Hook of authentication. Without a result the client is refused. */
export type AuthHook<Config = Record<string, unknown>> = (
  request: HookRequest,
  context: HookContext<Config>,
) => Awaitable<HookIdentity | HookReply | undefined> | Awaitable<void>;

/** Hook of the list `response`: changes the response. */
export type ResponseHook<Config = Record<string, unknown>> = (
  response: HookResponse,
  request: HookRequest,
  context: HookContext<Config>,
) => Awaitable<void>;

/** Analytics record of a request. Members of the first group can be changed; texts are empty where nothing is known. */
export interface HookRecord {
  method: string;
  host: string;
  path: string;
  raw_path: string;
  original_path: string;
  user_agent: string;
  ip_address: string;
  /** ISO 3166-1, or empty. */
  country: string;
  response_code: number;
  /** Hash of the key; empty without one. */
  api_key: string;
  alias: string;
  oauth_id: string;
  api_version: string;
  upstream_error: string;
  request_id: string;
  /** JSON-RPC method of a request to an MCP proxy, or empty. */
  mcp_method: string;
  mcp_primitive_name: string;
  graphql_operation_name: string;
  /** Without those that the gateway adds: key, organisation, API. */
  tags: string[];
  /** Base64; empty without detailed recording. */
  raw_request: string;
  raw_response: string;

  readonly timestamp: string;
  readonly org_id: string;
  readonly api_id: string;
  readonly api_name: string;
  readonly listen_path: string;
  /** Code of the error of the gateway, or empty. */
  readonly refusal: string;
  /** Milliseconds. */
  readonly request_time: number;
  readonly upstream_time: number;
  readonly content_length: number;
  readonly response_length: number;
}

/** Hook of analytics records: changes the record before it is stored. `fetch` and `storage` are not available. */
export type RecordHook<Config = Record<string, unknown>> = (
  record: HookRecord,
  context: HookContext<Config>,
) => Awaitable<void>;
