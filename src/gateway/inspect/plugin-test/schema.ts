import { z } from 'zod';
import { tokenPattern } from '#base/http-syntax.ts';

/** Bounds of one test: those of a script, and of a body that a test sends. */
const maxCodeCharacters = 1_048_576;
const maxBodyCharacters = 1_048_576;

const line = z.string().refine(text => !/[^\P{Cc}\t]/u.test(text), { error: 'must be one line of text' });
const lines = z.union([line, z.array(line)], { error: 'must be one line of text, or an array of them' });
const headers = z
  .record(z.string().regex(tokenPattern, { error: 'must be the name of a header' }), lines)
  .nullish()
  .describe('Map from header name to values');
const body = z.string().max(maxBodyCharacters).nullish();
const target = z.string().regex(/^\/\S*$/, { error: 'must start with / and hold no space' });

const testedHookTypes = ['pre', 'post', 'post_key_auth', 'auth_check', 'response', 'virtual'] as const;
export type HookType = (typeof testedHookTypes)[number];

const TestedRequest = z.object({
  Method: z
    .string()
    .regex(/^[A-Z]{1,20}$/, { error: 'must be a method of HTTP' })
    .nullish()
    .describe('HTTP method; defaults to GET'),
  URL: target.nullish().describe('Path and query as the hook sees them; defaults to Path, then to /'),
  Path: target.nullish().describe('Path, where there is no URL'),
  RequestURI: target.nullish().describe('Path and query that the client sent; defaults to URL'),
  Headers: headers,
  Params: z
    .record(z.string(), z.union([z.string(), z.array(z.string())]))
    .nullish()
    .describe('Query parameters, added to those of URL'),
  Body: body,
  Scheme: z.enum(['http', 'https']).nullish(),
});

const TestedResponse = z.object({
  StatusCode: z.int().min(200).max(599).nullish().describe('Status; defaults to 200'),
  Headers: headers,
  Body: body,
});

export const PluginTestRequest = z.object({
  code: z.string().min(1).max(maxCodeCharacters).describe('Source of the plugin, as text'),
  driver: z
    .enum(['javascript', 'otto', 'typescript'])
    .nullish()
    .describe('Driver that runs it; defaults to javascript'),
  hook_type: z.enum(testedHookTypes).describe('List of hooks it would be in, or virtual for a virtual endpoint'),
  name: z
    .string()
    .regex(/^[A-Za-z_$][\w$]{0,254}$/, { error: 'must be the name of a variable' })
    .nullish()
    .describe('Plugin object, exported hook or function; needed where the code defines several'),
  api_id: z.string().max(255).nullish().describe('API that the plugin runs for; none by default'),
  request: TestedRequest.nullish(),
  response: TestedResponse.nullish().describe('Response of the upstream, for hooks of the type response'),
  session: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe('Members of a key: the hook gets them with policies applied'),
  config_data: z.record(z.string(), z.unknown()).nullish().describe('Data of the definition'),
});

export const ControlTestWrite = PluginTestRequest.extend({
  org_id: z.string().max(255).nullish().describe('Organisation that it runs in; defaults to the first one'),
});

const multiple = z.record(z.string(), z.array(z.string()));
const RequestState = z.object({
  Method: z.string(),
  URL: z.string(),
  Headers: multiple,
  Params: multiple,
  Body: z.string(),
});
const ResponseState = z.object({ StatusCode: z.int(), Headers: multiple, Body: z.string() });

export const PluginTestResponse = z.object({
  logs: z
    .array(z.object({ level: z.string(), message: z.string(), time: z.string() }))
    .describe('Lines that the hook logged'),
  request_before: RequestState,
  request_after: RequestState.nullable().describe('null where the hook failed'),
  response_before: ResponseState.nullable(),
  response_after: ResponseState.nullable().describe('Response of the hook, or the changed one; null without any'),
  session_after: z.unknown().describe('Session that the hook returned or changed; null without one'),
  error: z
    .object({
      message: z.string(),
      type: z.string().describe('syntax, timeout, runtime, memory, output, calls, overload'),
      file: z.string(),
      line: z.int().describe('0 where it is unknown'),
    })
    .nullable()
    .describe('null where the hook did not fail'),
  execution_ms: z.number().describe('Time of the call, without loading'),
});

export type PluginTestOutcome = z.output<typeof PluginTestResponse>;

/** A test as sent to a traffic thread. */
export interface PluginTestTask {
  readonly write: z.output<typeof PluginTestRequest>;
  readonly name: string;
  readonly orgId: string;
  readonly apiId: string;
  /** False: functions that read and write keys fail. */
  readonly mayUseKeys: boolean;
}

/** Outcome on the thread, or the fault of the request that it cannot run. */
export type PluginTestReply =
  | { readonly result: PluginTestOutcome }
  | { readonly fault: string; readonly part: 'request' | 'session' };
