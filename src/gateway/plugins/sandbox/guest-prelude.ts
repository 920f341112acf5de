/**
 * Code that runs in the sandbox before the plugins. Its functions are passed as text: nothing of this module is reachable
 * from a guest, and they can use nothing but each other and the globals of QuickJS.
 */

/** Call of the host: `name` and a text; text or undefined back. */
type Host = (name: string, argument: string) => string | undefined;
type Members = Record<string, unknown>;
type Values = Record<string, string[]>;

/** State of the guest. All of it is part of the image: a call sets the seed and its text, and its changes are undone. */
interface GuestState {
  readonly hooks: Members;
  config: Members;
  seed: number;
  /** Text of the call. */
  head: string;
  /** Objects that hooks get, created once. */
  objects: { readonly request: Members; readonly virtual: Members; readonly response: Members } | undefined;
  /** Runtime of another contract, which runs calls in place of this prelude; installed by `__gwUse`. */
  prepare: ((state: GuestState) => NonNullable<GuestState['run']>) | undefined;
  run: ((lines: string[], body: string) => unknown) | undefined;
}

/** Built-in functions as they were before the scripts ran; declared in the prelude. */
declare const parseJson: typeof JSON.parse;
declare const writeJson: typeof JSON.stringify;
declare const defineProperty: typeof Object.defineProperty;
declare const listKeys: typeof Object.keys;
declare const hasOwn: typeof Object.hasOwn;

/** Expression whose value is `installGuest`. */
export const createPreludeSource = (): string =>
  `(function () { const { parse: parseJson, stringify: writeJson } = JSON;
const { defineProperty, keys: listKeys, hasOwn } = Object;
${guestFunctions.map(part => part.toString()).join('\n')}
return installGuest; })()`;

const guestFunctions = [
  isObject,
  pick,
  defineGlobals,
  seedRandom,
  createMiddleware,
  createEventHandler,
  toMap,
  readPairs,
  defineLazy,
  createObjects,
  listChanges,
  setRequest,
  readResult,
  runRequest,
  runResponse,
  runVirtual,
  runEvent,
  describeRecordFault,
  runRecords,
  prepareGuest,
  runGuest,
  installGuest,
];

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null;
}

/** Members of results are found in any case, as the decoders of other gateways do. */
function pick(object: Members, name: string): unknown {
  if (name in object) return object[name];
  const lower = name.toLowerCase();
  for (const key in object) if (key.toLowerCase() === lower) return object[key];
  return undefined;
}

/** Functions and objects that scripts use. */
function defineGlobals(host: Host): void {
  const global = globalThis as unknown as Members;
  const toText = (value: unknown) => (typeof value === 'string' ? value : String(value));
  const callHost = (name: string, args: unknown[]): unknown => {
    const answer = parseJson(host(name, writeJson(args))!) as { value?: unknown; fault?: string };
    if (answer.fault !== undefined) throw new Error(answer.fault);
    return answer.value;
  };
  for (const name of ['log', 'rawlog']) global[name] = (value: unknown) => void host(name, toText(value));
  for (const name of ['b64enc', 'b64dec', 'rawb64enc', 'rawb64dec'])
    global[name] = (value: unknown) => host(name, toText(value));
  const storage = ['Get', 'Set', 'SetNX', 'Del', 'TTL', 'Incr'].map(verb => `GwStorage${verb}`);
  for (const name of ['GwMakeHttpRequest', 'GwBatchRequest', 'GwGetKeyData', 'GwSetKeyData', ...storage])
    global[name] = (...args: unknown[]) => callHost(name, args);
  global.GwJsResponse = (response: unknown, sessionMeta: unknown) =>
    writeJson({ Response: response, SessionMeta: sessionMeta });
  // Scripts call the constructors with and without `new`.
  global.GwJS = {
    GwMiddleware: { NewMiddleware: createMiddleware },
    GwEventHandlers: { NewEventHandler: createEventHandler },
  };
  // Jobs never run: hooks are synchronous.
  delete global.queueMicrotask;
}

/** Random numbers from the seed of the call: a restored image would repeat those of QuickJS. */
function seedRandom(state: GuestState): void {
  Math.random = () => {
    state.seed = (state.seed + 0x6d2b79f5) | 0;
    let t = Math.imul(state.seed ^ (state.seed >>> 15), 1 | state.seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function createMiddleware() {
  const hooks: { request?: unknown; response?: unknown } = {};
  return {
    NewProcessRequest(fn: unknown) {
      hooks.request = fn;
    },
    NewProcessResponse(fn: unknown) {
      hooks.response = fn;
    },
    ReturnData: (request: unknown, sessionMeta: unknown) => ({ Request: request, SessionMeta: sessionMeta }),
    ReturnAuthData: (request: unknown, session: unknown, authValue: unknown) => ({
      Request: request,
      Session: session,
      AuthValue: authValue,
    }),
    ReturnResponseData: (response: unknown, sessionMeta: unknown) => ({
      Response: response,
      SessionMeta: sessionMeta,
    }),
    DoProcessRequest(request: unknown, session: unknown, config: unknown) {
      if (typeof hooks.request !== 'function') throw new Error('the plugin object has no NewProcessRequest function');
      return hooks.request(request, session, config);
    },
    DoProcessResponse(response: unknown, request: unknown, session: unknown, config: unknown) {
      if (typeof hooks.response !== 'function') throw new Error('the plugin object has no NewProcessResponse function');
      return hooks.response(response, request, session, config);
    },
  };
}

function createEventHandler() {
  let handle: unknown;
  return {
    NewHandler(fn: unknown) {
      handle = fn;
    },
    DoProcessEvent(event: unknown, context: unknown) {
      if (typeof handle !== 'function') throw new Error('the event handler has no NewHandler function');
      return handle(event, context);
    },
  };
}

/** Map of lists from pairs of lines. A name that would set the prototype is left out. */
function toMap(lines: string[], from: number, count: number): Values {
  const map: Values = {};
  for (let i = 0; i < count; i++) {
    const name = lines[from + 2 * i]!;
    const value = lines[from + 2 * i + 1]!;
    if (name === '__proto__') continue;
    const values = hasOwn(map, name) ? map[name] : undefined;
    if (values) values.push(value);
    else map[name] = [value];
  }
  return map;
}

/** First or second list of pairs of a call. */
function readPairs({ head }: GuestState, isFirst: boolean): Values {
  const lines = head.split('\n');
  const count = Number(lines[8]);
  return isFirst ? toMap(lines, 11, count) : toMap(lines, 11 + 2 * count, Number(lines[9]));
}

/** Member that is read on first use: most hooks read few headers, and no parameters. */
function defineLazy(object: Members, name: string, read: () => unknown): void {
  let isRead = false;
  let value: unknown;
  const set = (given: unknown) => {
    value = given;
    isRead = true;
  };
  const get = () => {
    if (!isRead) set(read());
    return value;
  };
  defineProperty(object, name, { get, set, enumerable: true, configurable: true });
}

/** Objects that hooks get. The image has them, so that a call only sets their texts. */
function createObjects(state: GuestState): NonNullable<GuestState['objects']> {
  const request: Members = {
    Headers: undefined,
    SetHeaders: {},
    DeleteHeaders: [],
    Body: '',
    URL: '',
    Params: {},
    AddParams: {},
    ExtendedParams: {},
    DeleteParams: [],
    ReturnOverrides: {
      ResponseCode: 0,
      ResponseError: '',
      ResponseBody: '',
      ResponseHeaders: {},
      OverrideError: false,
    },
    IgnoreBody: false,
    Method: '',
    RequestURI: '',
    Scheme: '',
  };
  const virtual: Members = { Headers: undefined, Body: '', URL: '', Params: undefined, Scheme: '' };
  const response: Members = { StatusCode: 0, Body: '', Headers: undefined, SetHeaders: {}, DeleteHeaders: [] };
  defineLazy(request, 'Headers', () => readPairs(state, true));
  defineLazy(request, 'Params', () => readPairs(state, false));
  defineLazy(virtual, 'Headers', () => readPairs(state, true));
  defineLazy(virtual, 'Params', () => readPairs(state, false));
  defineLazy(response, 'Headers', () => readPairs(state, true));
  return { request, virtual, response };
}

/** Members of a result that differ from those the hook got: the others need no way back. */
function listChanges(request: Members, url: string, body: string): Members {
  const changes: Members = {};
  const names = ['SetHeaders', 'DeleteHeaders', 'AddParams', 'ExtendedParams', 'DeleteParams'];
  for (let i = 0; i < names.length; i++) {
    const value = pick(request, names[i]!);
    if (typeof value !== 'object' || value === null || listKeys(value).length > 0) changes[names[i]!] = value;
  }
  const overrides = pick(request, 'ReturnOverrides');
  if (isObject(overrides) && (pick(overrides, 'ResponseCode') || pick(overrides, 'OverrideError')))
    changes.ReturnOverrides = overrides;
  const newUrl = pick(request, 'URL');
  if (newUrl !== url) changes.URL = newUrl;
  const newBody = pick(request, 'Body');
  if (newBody !== body && !pick(request, 'IgnoreBody')) changes.Body = newBody;
  return changes;
}

/** Sets the texts of the request object. */
function setRequest(state: GuestState, lines: string[], body: string): Members {
  const { request } = state.objects!;
  request.Body = body;
  request.URL = lines[4];
  request.Method = lines[3];
  request.RequestURI = lines[5];
  request.Scheme = lines[6];
  return request;
}

/** Result of a hook, an object or its JSON, which must have the member `name`. */
function readResult(value: unknown, name: string): Members {
  const result: unknown = typeof value === 'string' ? parseJson(value) : value;
  if (!isObject(result) || !isObject(pick(result, name))) throw new Error(`the hook returned no ${name}`);
  return result;
}

function runRequest(state: GuestState, lines: string[], body: string, session: unknown): string {
  const hook = state.hooks[lines[2]!];
  if (!isObject(hook) || typeof hook.DoProcessRequest !== 'function') throw new Error('the hook is no plugin object');
  const request = setRequest(state, lines, body);
  const result = readResult(hook.DoProcessRequest(request, session, state.config), 'Request');
  const changes = listChanges(pick(result, 'Request') as Members, lines[4]!, body);
  const meta = pick(result, 'SessionMeta');
  if (isObject(meta)) changes.SessionMeta = meta;
  const newSession = pick(result, 'Session');
  if (newSession !== undefined) {
    changes.Session = newSession;
    changes.AuthValue = pick(result, 'AuthValue') ?? pick(pick(result, 'Request') as Members, 'AuthValue');
  }
  return writeJson(changes);
}

function runResponse(state: GuestState, lines: string[], body: string, session: unknown): string {
  const hook = state.hooks[lines[2]!];
  if (!isObject(hook) || typeof hook.DoProcessResponse !== 'function') throw new Error('the hook is no plugin object');
  const request = setRequest(state, lines, '');
  defineLazy(request, 'Headers', () => readPairs(state, false));
  request.Params = {};
  const { response } = state.objects!;
  const status = Number(lines[10]);
  response.StatusCode = status;
  response.Body = body;
  const result = readResult(hook.DoProcessResponse(response, request, session, state.config), 'Response');
  const answer = pick(result, 'Response') as Members;
  const changes: Members = { SetHeaders: pick(answer, 'SetHeaders'), DeleteHeaders: pick(answer, 'DeleteHeaders') };
  if (pick(answer, 'Body') !== body) changes.Body = pick(answer, 'Body');
  if (pick(answer, 'StatusCode') !== status) changes.StatusCode = pick(answer, 'StatusCode');
  return writeJson(changes);
}

function runVirtual(state: GuestState, lines: string[], body: string, session: unknown): string {
  const hook = state.hooks[lines[2]!];
  if (typeof hook !== 'function') throw new Error('the script has no such function');
  const { virtual } = state.objects!;
  virtual.Body = body;
  virtual.URL = lines[4];
  virtual.Scheme = lines[6];
  const result = readResult(hook(virtual, session, state.config), 'Response');
  const response = pick(result, 'Response') as Members;
  return writeJson({
    SessionMeta: pick(result, 'SessionMeta'),
    Body: pick(response, 'Body'),
    Headers: pick(response, 'Headers'),
    Code: pick(response, 'Code'),
  });
}

/** The body has the event and its context; a handler returns nothing that counts. */
function runEvent(state: GuestState, lines: string[], body: string): string {
  const hook = state.hooks[lines[2]!];
  if (!isObject(hook) || typeof hook.DoProcessEvent !== 'function') throw new Error('the hook is no event handler');
  const { event, context } = parseJson(body) as Members;
  hook.DoProcessEvent(event, context);
  return '';
}

/** Message of an exception with the file and line of its first frame. */
function describeRecordFault(error: unknown): string {
  const { message, stack } = isObject(error) ? error : ({} as Members);
  const [, place] = /\(([^():]*:\d+)/.exec(String(stack)) ?? [];
  return (place === undefined ? '' : `${place}: `) + String(message ?? error);
}

/** The body has a list of records. A function changes a record or returns another; its failure is that of one record. */
function runRecords(state: GuestState, lines: string[], body: string): string {
  const hook = state.hooks[lines[2]!];
  if (typeof hook !== 'function') throw new Error('the script has no such function');
  const results = (parseJson(body) as Members[]).map(record => {
    try {
      return { record: hook(record, state.config) ?? record };
    } catch (error) {
      return { fault: describeRecordFault(error) };
    }
  });
  return writeJson(results);
}

/** Sets the data of hooks, once per image; returns the names of hooks that no script defines. */
function prepareGuest(state: GuestState, head: string): string {
  delete (globalThis as unknown as Members).__gwRegister;
  delete (globalThis as unknown as Members).__gwUse;
  const { names, data } = parseJson(head) as { names: string[]; data: Members };
  state.config = data;
  state.run = state.prepare?.(state);
  return names.filter(name => state.hooks[name] === undefined).join(', ');
}

/**
 * Runs a call. Lines of the head: seed, kind, hook, method, URL, request URI, scheme, session, number of headers, number
 * of parameters (of request headers for a response), status; then the pairs.
 */
function runGuest(state: GuestState, head: string, body: string): unknown {
  if (head.startsWith('{')) return prepareGuest(state, head);
  const lines = head.split('\n', 11);
  state.head = head;
  state.seed = Number(lines[0]);
  const kind = lines[1];
  if (kind === 'check') return '';
  if (state.run) return state.run(lines, body);
  if (kind === 'event') return runEvent(state, lines, body);
  if (kind === 'records') return runRecords(state, lines, body);
  const session: unknown = lines[7] === '' ? {} : parseJson(lines[7]!);
  if (kind === 'virtual') return runVirtual(state, lines, body, session);
  return kind === 'response' ? runResponse(state, lines, body, session) : runRequest(state, lines, body, session);
}

function installGuest(host: Host): (head: string, body: string) => unknown {
  const state: GuestState = {
    hooks: {},
    config: {},
    seed: 1,
    head: '',
    objects: undefined,
    prepare: undefined,
    run: undefined,
  };
  state.objects = createObjects(state);
  seedRandom(state);
  defineGlobals(host);
  (globalThis as unknown as Members).__gwRegister = (name: string, hook: unknown) => {
    if (hook !== undefined) state.hooks[name] = hook;
  };
  (globalThis as unknown as Members).__gwUse = (prepare: GuestState['prepare']) => {
    state.prepare = prepare;
  };
  return (head, body) => runGuest(state, head, body);
}
