/**
 * Objects that TypeScript hooks get, and the changes that they made. Used as they are for trusted plugins; the sandbox
 * gets their source text (`guest-runtime.ts`), so they use nothing but each other and the globals of QuickJS.
 */
import type { HookFetchInit, HookFetchResponse, HookSession, HookStorage, HookValues } from './contract.ts';

const { parse: parseJson, stringify: writeJson } = JSON;

type Members = Record<string, unknown>;

/** Message with flat lists of names and values, which are read on first use and stay unchanged. */
export interface MessageValues {
  listHeaders(): readonly string[];
  listParameters(): readonly string[];
}

/** Values of a message by name; names of headers in any case. */
class TypedValues implements HookValues {
  readonly source: MessageValues;
  readonly foldsCase: boolean;
  list: readonly string[] | undefined = undefined;
  /** Values of changed names by their key, with the name as the hook wrote it. */
  changed: Map<string, { name: string; values: string[] }> | undefined = undefined;

  constructor(source: MessageValues, foldsCase: boolean) {
    this.source = source;
    this.foldsCase = foldsCase;
  }

  get flat(): readonly string[] {
    this.list ??= this.foldsCase ? this.source.listHeaders() : this.source.listParameters();
    return this.list;
  }

  toKey(name: unknown): string {
    if (typeof name !== 'string') throw new TypeError('a name must be a string');
    return this.foldsCase ? name.toLowerCase() : name;
  }

  getAll(name: string): readonly string[] {
    const key = this.toKey(name);
    const changed = this.changed?.get(key);
    if (changed) return changed.values.slice();
    const values: string[] = [];
    const { flat } = this;
    for (let i = 0; i + 1 < flat.length; i += 2) if (this.toKey(flat[i]) === key) values.push(flat[i + 1]!);
    return values;
  }

  get(name: string): string | undefined {
    return this.getAll(name)[0];
  }

  has(name: string): boolean {
    return this.getAll(name).length > 0;
  }

  names(): readonly string[] {
    const names = new Map<string, string>();
    const { flat } = this;
    for (let i = 0; i + 1 < flat.length; i += 2) names.set(this.toKey(flat[i]), flat[i]!);
    for (const [key, { name, values }] of this.changed ?? [])
      if (values.length > 0) names.set(key, name);
      else names.delete(key);
    return [...names.values()];
  }

  replace(name: string, values: string[]): void {
    for (const value of values)
      if (typeof value !== 'string') throw new TypeError(`the value of ${name} must be a string`);
    this.changed ??= new Map();
    this.changed.set(this.toKey(name), { name, values });
  }

  set(name: string, value: string): void {
    this.replace(name, [value]);
  }

  append(name: string, value: string): void {
    this.replace(name, [...this.getAll(name), value]);
  }

  delete(name: string): void {
    this.replace(name, []);
  }

  /** Headers: one value is set, several are removed and added. */
  writeHeaderChanges(changes: Members): void {
    if (!this.changed) return;
    const set: Record<string, string> = {};
    const removed: string[] = [];
    const added: string[][] = [];
    for (const { name, values } of this.changed.values()) {
      if (values.length === 1) set[name] = values[0]!;
      else removed.push(name);
      if (values.length > 1) for (const value of values) added.push([name, value]);
    }
    changes.SetHeaders = set;
    changes.DeleteHeaders = removed;
    if (added.length > 0) changes.AddHeaders = added;
  }

  /** Parameters are removed and added. */
  writeParameterChanges(changes: Members): void {
    if (!this.changed) return;
    const added: Record<string, string[]> = {};
    const removed: string[] = [];
    for (const { name, values } of this.changed.values()) {
      removed.push(name);
      if (values.length > 0) added[name] = values;
    }
    changes.DeleteParams = removed;
    changes.ExtendedParams = added;
  }
}

/** Text of a message that a hook may replace. */
class TypedBody {
  readonly read: () => string;
  text: string | undefined = undefined;
  isChanged = false;

  constructor(read: () => string) {
    this.read = read;
  }

  get body(): string {
    this.text ??= this.read();
    return this.text;
  }

  set body(value: string) {
    if (typeof value !== 'string') throw new TypeError('a body must be a string');
    this.text = value;
    this.isChanged = true;
  }

  json(): unknown {
    return parseJson(this.body);
  }
}

export interface RequestSource extends MessageValues {
  readonly method: string;
  readonly scheme: string;
  readonly url: string;
  readonly receivedUrl: string;
  readBody(): string;
}

export class TypedRequest extends TypedBody {
  readonly source: RequestSource;
  readonly method: string;
  readonly scheme: string;
  readonly receivedUrl: string;
  readonly headers: TypedValues;
  url: string;
  parameters: TypedValues | undefined = undefined;

  constructor(source: RequestSource) {
    super(source.readBody);
    this.source = source;
    this.method = source.method;
    this.scheme = source.scheme;
    this.receivedUrl = source.receivedUrl;
    this.url = source.url;
    this.headers = new TypedValues(source, true);
  }

  get query(): TypedValues {
    this.parameters ??= new TypedValues(this.source, false);
    return this.parameters;
  }
}

export class TypedResponse extends TypedBody {
  readonly statusBefore: number;
  readonly headers: TypedValues;
  status: number;

  constructor(status: number, source: MessageValues, read: () => string) {
    super(read);
    this.status = status;
    this.statusBefore = status;
    this.headers = new TypedValues(source, true);
  }
}

/** Functions of the host: requests and storage wait in the traffic thread and return at once in the sandbox. */
export interface HookHost {
  log(text: string): void;
  call(name: string, args: readonly unknown[]): unknown;
}

async function sendFetch(host: HookHost, url: string, init: HookFetchInit = {}): Promise<HookFetchResponse> {
  const request = {
    Method: init.method ?? 'GET',
    Domain: String(url),
    Resource: '',
    Headers: init.headers ?? {},
    Body: init.body ?? '',
  };
  const text = await host.call('GwMakeHttpRequest', [writeJson(request)]);
  if (typeof text !== 'string') throw new Error(`no response from ${url}`);
  const { Code: status, Body: body, Headers: lists } = parseJson(text);
  const headers: Record<string, string> = {};
  for (const name of Object.keys(lists)) headers[name.toLowerCase()] = lists[name][0];
  return { status, ok: status >= 200 && status <= 299, headers, body, json: () => parseJson(body) };
}

/** Functions without `this`: hooks destructure them. */
function createTypedStorage(host: HookHost): HookStorage {
  return {
    async get(key) {
      return ((await host.call('GwStorageGet', [key])) as string | null) ?? undefined;
    },
    async set(key, value, ttlSeconds = 0) {
      await host.call('GwStorageSet', [key, value, ttlSeconds]);
    },
    async setIfAbsent(key, value, ttlSeconds = 0) {
      return (await host.call('GwStorageSetNX', [key, value, ttlSeconds])) === true;
    },
    async delete(key) {
      await host.call('GwStorageDel', [key]);
    },
    async increment(key) {
      return Number(await host.call('GwStorageIncr', [key]));
    },
  };
}

/** Context of one call. Its functions are bound: hooks destructure them. */
export class TypedContext {
  readonly api: { readonly id: string; readonly orgId: string };
  readonly config: unknown;
  readonly session: HookSession | undefined;
  readonly metadataBefore: string;
  readonly host: HookHost;
  readonly log = (text: string): void => this.host.log(String(text));
  readonly fetch = (url: string, init?: HookFetchInit): Promise<HookFetchResponse> => sendFetch(this.host, url, init);

  constructor(data: Members, session: HookSession | undefined, host: HookHost) {
    this.api = { id: data.APIID as string, orgId: data.OrgID as string };
    this.config = data.config_data ?? {};
    this.session = session;
    this.metadataBefore = session ? writeJson(session.meta_data) : '';
    this.host = host;
  }

  get storage(): HookStorage {
    return createTypedStorage(this.host);
  }
}

/** Reply of a hook in the members of the JavaScript contract. */
function toReturnOverrides(reply: Members): Members {
  const { status, headers, body, error } = reply;
  if (error !== undefined)
    return { ResponseCode: status ?? 500, ResponseError: String(error), ResponseHeaders: headers ?? {} };
  const isText = typeof body === 'string' || body === undefined;
  return {
    ResponseCode: status ?? 200,
    ResponseBody: isText ? (body ?? '') : writeJson(body),
    ResponseHeaders: isText ? (headers ?? {}) : { 'Content-Type': 'application/json', ...(headers as Members) },
    OverrideError: true,
  };
}

/** Changes of a request hook, and its reply or identity. */
export function collectRequestChanges(
  request: TypedRequest,
  { session, metadataBefore }: TypedContext,
  result: unknown,
) {
  const changes: Members = {};
  request.headers.writeHeaderChanges(changes);
  request.parameters?.writeParameterChanges(changes);
  if (request.url !== request.source.url) changes.URL = request.url;
  if (request.isChanged) changes.Body = request.text;
  if (session && writeJson(session.meta_data) !== metadataBefore) changes.SessionMeta = session.meta_data;
  if (result === undefined) return changes;
  if (typeof result !== 'object' || result === null) throw new TypeError('a request hook returns nothing or an object');
  const { session: identity, id } = result as Members;
  if (identity === undefined) changes.ReturnOverrides = toReturnOverrides(result as Members);
  else {
    changes.Session = identity;
    changes.AuthValue = id;
  }
  return changes;
}

export function collectResponseChanges(response: TypedResponse, result: unknown): Members {
  if (result !== undefined) throw new TypeError('a response hook returns nothing: it changes the response');
  const changes: Members = {};
  response.headers.writeHeaderChanges(changes);
  if (response.isChanged) changes.Body = response.text;
  if (response.status !== response.statusBefore) changes.StatusCode = response.status;
  return changes;
}

/** Result for one record: the record with its changes, or why the hook failed. */
export type RecordReturn = { readonly record: unknown } | { readonly fault: string };

/** Runs the hook of one record; a promise where it is asynchronous. */
export function runRecordHook(
  hook: (record: unknown, context: TypedContext) => unknown,
  record: unknown,
  context: TypedContext,
  describe: (error: unknown) => string,
): RecordReturn | Promise<RecordReturn> {
  const finish = (result: unknown): RecordReturn =>
    result === undefined ? { record } : { fault: 'a record hook returns nothing: it changes the record' };
  const fail = (error: unknown): RecordReturn => ({ fault: describe(error) });
  try {
    const result = hook(record, context);
    return result instanceof Promise ? result.then(finish, fail) : finish(result);
  } catch (error) {
    return fail(error);
  }
}

/** Source texts in the order in which they are declared. */
export const hookObjectSources: readonly string[] = [
  TypedValues,
  TypedBody,
  TypedRequest,
  TypedResponse,
  sendFetch,
  createTypedStorage,
  TypedContext,
  toReturnOverrides,
  collectRequestChanges,
  collectResponseChanges,
  runRecordHook,
].map(part => part.toString());
