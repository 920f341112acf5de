import { z } from 'zod';

/** One call, as the log shows it. */
const loggedCall = z.object({
  timestamp: z.string(),
  request_id: z
    .string()
    .optional()
    .describe(
      'Id of the request, as in the access log and in `gateway.request_id_header`; empty where neither is used',
    ),
  day: z.int(),
  month: z.int(),
  year: z.int(),
  hour: z.int(),
  method: z.string(),
  mcp_method: z.string().optional().describe('JSON-RPC method of a request to an MCP proxy'),
  mcp_primitive_type: z.string().optional().describe('tool, resource or prompt'),
  mcp_primitive_name: z.string().optional().describe('Name of the tool or prompt, or URI of the resource'),
  graphql_operation_type: z.string().optional().describe('query, mutation or subscription, of a GraphQL API'),
  graphql_operation_name: z.string().optional().describe('Empty for an operation without a name'),
  graphql_fields: z.array(z.string()).optional().describe('Fields of the root type, 20 at most'),
  host: z.string(),
  path: z.string().describe('Path below the listen path'),
  raw_path: z.string().describe('Path as received'),
  original_path: z.string().describe('Path below the listen path, before any rewrite'),
  listen_path: z.string(),
  track_path: z.boolean(),
  content_length: z.number(),
  response_length: z.number(),
  user_agent: z.string(),
  ip_address: z.string(),
  response_code: z.int(),
  refusal: z.string().describe('Code of the refusal; empty if the request was not refused'),
  upstream_error: z.string().describe('Why the upstream failed, as `reason: detail`; empty where it did not'),
  api_key: z.string().describe('Hash of the key; 00000000 for a request without one'),
  alias: z.string(),
  oauth_id: z.string(),
  api_version: z.string(),
  api_name: z.string(),
  api_id: z.string(),
  org_id: z.string(),
  request_time: z.number().describe('Milliseconds'),
  geo: z
    .object({
      country: z.object({ iso_code: z.string() }),
      city: z.object({ geoname_id: z.int(), names: z.record(z.string(), z.string()) }).optional(),
      location: z.object({ latitude: z.number(), longitude: z.number(), time_zone: z.string() }).optional(),
    })
    .optional()
    .describe('Place of the client by `analytics.geo_database`; absent where it is unknown'),
  latency: z.object({ total: z.number(), upstream: z.number(), gateway: z.number() }),
  tags: z.array(z.string()),
  raw_request: z.string().describe('Base64; empty without detailed recording'),
  raw_response: z.string(),
  expireAt: z.string(),
});
export type LoggedCall = z.output<typeof loggedCall>;
export const listedCall = loggedCall.extend({ id: z.string().describe('Id of the record, for GET /api/logs/{logId}') });
export const logPage = z.object({
  data: z.array(listedCall),
  pages: z.int(),
  keys_cut: z.boolean().optional().describe('True where more than 100 keys match: the requests of the newest 100'),
});

/** Calls counted together. Dimensions they were not grouped by are 0 or empty. */
const usageItem = z.object({
  id: z.object({
    day: z.int(),
    month: z.int(),
    year: z.int(),
    hour: z.int(),
    minute: z.int(),
    start: z.string().describe('Start of the time in its zone; empty where not grouped by time'),
    code: z.int(),
    path: z.string(),
    key: z.string(),
    alias: z.string(),
    url: z.string(),
    iso_country: z.string(),
    api_id: z.string(),
    api_name: z.string(),
    api_version: z.string(),
    oauth_id: z.string(),
    refusal: z.string(),
    method: z.string(),
    user_agent: z.string().describe('Product name of the agent, without version'),
    mcp_method: z.string().describe('JSON-RPC method of a request to an MCP proxy'),
    mcp_primitive_type: z.string().describe('tool, resource or prompt'),
    mcp_primitive_name: z.string().describe('Name of the tool or prompt, or URI of the resource'),
    tag: z.string().describe('Tag of the requests; a request with several is counted under each'),
  }),
  hits: z.int(),
  success: z.int(),
  error: z.int(),
  last_hit: z.string(),
  request_time: z.number(),
  latency: z.number(),
  upstream_latency: z.number(),
  max_latency: z.int(),
  min_latency: z.int(),
  max_upstream_latency: z.int(),
  min_upstream_latency: z.int(),
  request_bytes: z.int(),
  response_bytes: z.int(),
  percentiles: z
    .object({ p50: z.number(), p75: z.number(), p95: z.number(), p99: z.number(), samples: z.int() })
    .optional()
    .describe('Latency percentiles in milliseconds, and the number of requests they are of'),
});
export type UsageItem = z.output<typeof usageItem>;
export const usagePage = z.object({
  data: z.array(usageItem),
  pages: z.int(),
  dropped: z.int().describe('Requests of any organisation in this time that were dropped before they were stored'),
});
