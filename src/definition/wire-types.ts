/** Wire types: the API definition as clients send and read it, in each of its formats. */

/** Classic API definition. Known members are typed; unknown ones are kept. */
export interface ClassicDefinition {
  api_id?: string;
  id?: string;
  org_id?: string;
  name?: string;
  slug?: string;
  active?: boolean;
  internal?: boolean;
  is_oas?: boolean;
  domain?: string;
  expiration?: string;
  listen_port?: number;
  protocol?: string;
  tags?: string[] | null;
  use_keyless?: boolean;
  proxy?: {
    listen_path?: string;
    target_url?: string;
    target_list?: string[] | null;
    [member: string]: unknown;
  } | null;
  definition?: { enabled?: boolean; versions?: Record<string, string> | null; [member: string]: unknown } | null;
  version_data?: {
    not_versioned?: boolean;
    default_version?: string;
    versions?: Record<string, Record<string, unknown>> | null;
    [member: string]: unknown;
  } | null;
  [member: string]: unknown;
}

/** `x-gw-api-gateway`: the gateway's extension of an OpenAPI document. */
export interface GatewayExtension {
  info: {
    id?: string;
    dbId?: string;
    orgId?: string;
    name?: string;
    expiration?: string;
    state?: { active?: boolean; internal?: boolean; [member: string]: unknown } | null;
    versioning?: {
      enabled?: boolean;
      versions?: { name: string; id: string }[] | null;
      [member: string]: unknown;
    } | null;
    [member: string]: unknown;
  };
  server: {
    /** Absent for TCP and TLS services. */
    listenPath?: { value: string; strip?: boolean; [member: string]: unknown };
    [member: string]: unknown;
  };
  upstream?: { url?: string; [member: string]: unknown } | null;
  middleware?: {
    global?: Record<string, unknown> | null;
    operations?: Record<string, Record<string, unknown> | null> | null;
    [member: string]: unknown;
  } | null;
  [member: string]: unknown;
}

/** OpenAPI document with the gateway's extension. */
export interface OasDefinition {
  openapi?: string;
  info?: { title?: string; version?: string; [member: string]: unknown };
  paths?: Record<string, Record<string, unknown>> | null;
  components?: { securitySchemes?: Record<string, Record<string, unknown>> | null; [member: string]: unknown } | null;
  security?: Record<string, string[]>[] | null;
  'x-gw-api-gateway': GatewayExtension;
  [member: string]: unknown;
}

export interface StreamDefinition {
  input?: Record<string, unknown> | null;
  output?: Record<string, unknown> | null;
  pipeline?: { threads?: number; processors?: Record<string, unknown>[] | null } | null;
  [member: string]: unknown;
}

/** OpenAPI document with streams; the OpenAPI part may be absent. */
export interface StreamsDefinition extends OasDefinition {
  'x-gw-streaming': { streams: Record<string, StreamDefinition> };
}
