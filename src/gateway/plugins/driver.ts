import type { MaybePromise } from '#base/maybe-promise.ts';
import type { Model } from '#definition/model.ts';
import type { GatewayResponse } from '../http/response.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { StepContext, StepReads } from '../pipeline/step.ts';
import { upstreamTlsParts } from '../proxy/connection-options.ts';
import { PluginError } from './plugin-runner.ts';
import type { PluginServices } from './services.ts';

/** Parts of a definition that its plugins come from, and the TLS options of their requests. */
export const pluginReads = {
  api: ['plugins', 'pluginConfig', 'custom'],
  endpoints: ['virtualEndpoint', 'endpointPlugin'],
  also: { api: upstreamTlsParts },
} as const satisfies StepReads;

/** The same for a step that reads other parts also. */
export const withPluginReads = <const Name extends keyof Model>(...others: readonly Name[]) => ({
  ...pluginReads,
  also: { api: [...upstreamTlsParts, ...others] },
});

export type PluginContext = StepContext<PluginServices, typeof pluginReads>;

export type RequestHookList = 'pre' | 'auth' | 'postAuth' | 'post' | 'endpoint';
export type HookList = RequestHookList | 'response';

/** Hook of a definition: the name of its function or object, and where its code is. */
export interface PluginHook {
  readonly functionName: string;
  readonly requireSession: boolean;
  readonly rawBodyOnly: boolean;
  /** Below the plugin directory; empty where the definition holds the code, or the driver needs none. */
  readonly path: string;
  /** Base64; empty for a file. */
  readonly code: string;
}

export type ApiHooks = Readonly<Record<HookList, readonly PluginHook[]>>;

/**
 * Members that a hook returned, by their names in the JavaScript contract: `Request` or `Response` with those of their
 * members that the hook set, `SessionMeta`, `Session`, `AuthValue`. A `Body` is a text or bytes. `HeaderList` of a
 * response, a flat list of names and values, replaces all its headers.
 */
export interface HookReturn {
  readonly members: Readonly<Record<string, unknown>>;
  readonly logs: readonly string[];
}

/** Runs the hooks of one API. A failure is a thrown `PluginError`. */
export interface HookDriver {
  runRequestHook(hook: PluginHook, list: RequestHookList, call: Exchange, body: Buffer): MaybePromise<HookReturn>;
  runResponseHook(hook: PluginHook, call: Exchange, response: GatewayResponse, body: Buffer): MaybePromise<HookReturn>;
}

/** Hooks of an API, and the directory that its files are below. */
export interface DriverContext extends PluginContext {
  readonly hooks: ApiHooks;
  /** Directory of the files of hooks, which are those of a bundle where the definition names one; empty without one. */
  readonly directory: string;
  /** Directory of other files of the definition; empty without one. */
  readonly fileDirectory: string;
}

/** Directory of the file of a hook: bundles have none for endpoints. */
export const findHookDirectory = ({ hooks, directory, fileDirectory }: DriverContext, hook: PluginHook): string =>
  hooks.endpoint.includes(hook) ? fileDirectory : directory;

/** Loads the hooks of an API; throws `ApiCompileError` where one cannot run. */
export type CreateHookDriver = (context: DriverContext) => HookDriver;

/** True where a hook gets the session: one that requires it, after authentication or an earlier method of it. */
export const needsSession = ({ requireSession }: PluginHook, list: HookList): boolean =>
  requireSession && list !== 'pre';

/** Runs one hook. */
export interface TypedHook {
  runRequest(list: RequestHookList, call: Exchange, body: Buffer): MaybePromise<HookReturn>;
  runResponse(call: Exchange, response: GatewayResponse, body: Buffer): MaybePromise<HookReturn>;
}

/** Data that every hook of an API gets. */
export function describeApi({
  model,
}: {
  readonly model: Pick<Model, 'identity' | 'pluginConfig'>;
}): Record<string, unknown> {
  const { dataEnabled, data } = model.pluginConfig;
  const { id: APIID, orgId: OrgID } = model.identity;
  return { OrgID, APIID, ...(dataEnabled ? { config_data: data } : {}) };
}

type Members = Readonly<Record<string, unknown>>;

type BodyHook = Pick<PluginHook, 'rawBodyOnly'>;

/** Body as a script gets it: UTF-8, or with `rawBodyOnly` a binary string, one character for each byte. */
export const decodeHookBody = ({ rawBodyOnly }: BodyHook, body: Buffer): string =>
  body.toString(rawBodyOnly ? 'latin1' : 'utf8');

/** Changes of a hook with its `Body` as bytes where it got them. */
function encodeHookBody({ rawBodyOnly }: BodyHook, given: Members, logs: readonly string[]): Members {
  const { Body } = given;
  if (!rawBodyOnly || typeof Body !== 'string') return given;
  if (/[^\0-\xff]/.test(Body))
    throw new PluginError('runtime', 'Body has a character above U+00FF: with raw_body_only each is a byte', logs);
  return { ...given, Body: Buffer.from(Body, 'latin1') };
}

/** Result of a request hook that returned its changes and the other members in one object. */
export function toRequestReturn(hook: BodyHook, given: Members, logs: readonly string[]): HookReturn {
  const { SessionMeta, Session, AuthValue } = given;
  return { members: { Request: encodeHookBody(hook, given, logs), SessionMeta, Session, AuthValue }, logs };
}

export const toResponseReturn = (hook: BodyHook, given: Members, logs: readonly string[]): HookReturn => ({
  members: { Response: encodeHookBody(hook, given, logs) },
  logs,
});
