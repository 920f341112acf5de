import { Problem } from '#base/problems.ts';
import { applyApi, type ImportFlags, importApi } from './api-documents.ts';
import { type Control, orNothing } from './control.ts';
import { type Document, documentsIn, pemIn } from './documents.ts';

/** What one change did, as the gateway says it. */
export interface Applied {
  readonly key: string;
  readonly action: string;
  /** What was accepted without effect. */
  readonly warnings?: readonly string[];
}

export interface ListQuery {
  readonly filter?: string | undefined;
  readonly api?: string | undefined;
}

/** One kind of thing a gateway keeps, and how it is listed, read, applied and removed. */
export interface Kind {
  /** One of them, in a sentence. */
  readonly noun: string;
  /** The columns people see, and where they are found in an item of the list. */
  readonly columns: Readonly<Record<string, (item: Document) => unknown>>;
  list(call: Control, query: ListQuery): Promise<readonly Document[]>;
  /** Adds to the items of a list what only people read. */
  describe?(call: Control, items: readonly Document[]): Promise<readonly Document[]>;
  get(call: Control, id: string): Promise<unknown>;
  /** What a file holds: each is applied by itself. */
  read(text: string, path: string): readonly unknown[];
  apply(call: Control, document: unknown): Promise<Applied>;
  /** Makes one of a document of another format. */
  import?(call: Control, document: unknown, flags: ImportFlags): Promise<Applied>;
  remove(call: Control, id: string): Promise<unknown>;
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const member = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Document)[name] : undefined;
const under =
  (...names: readonly string[]) =>
  (item: Document) =>
    names.reduce<unknown>(member, item);
const yes = (value: unknown) => (value ? 'yes' : 'no');

const apis: Kind = {
  noun: 'API',
  columns: {
    ID: under('api_id'),
    NAME: under('name'),
    'LISTEN PATH': under('proxy', 'listen_path'),
    TARGET: under('proxy', 'target_url'),
    FORM: item => (item.is_oas ? 'openapi' : 'classic'),
    ACTIVE: item => yes(item.active !== false),
    SERVED: under('served'),
  },
  describe: addServed,
  list: call => call('GET /gw/apis', {}),
  async get(call, apiId) {
    const classic = await call('GET /gw/apis/{apiId}', { params: { apiId } });
    return classic.is_oas ? call('GET /gw/apis/oas/{apiId}', { params: { apiId } }) : classic;
  },
  read: documentsIn,
  apply: (call, document) => applyApi(call, document as Document),
  import: (call, document, flags) => importApi(call, document as Document, flags),
  remove: (call, apiId) => call('DELETE /gw/apis/{apiId}', { params: { apiId } }),
};

/** Status requests in flight at one time. */
const maxStatusRequests = 8;
/** A table has lines of a bearable length; GET /gw/apis/{apiId}/status has all of it. */
const maxReasonLength = 60;

/** Adds to each API whether calls of it are answered, and if not, why. */
async function addServed(call: Control, items: readonly Document[]): Promise<readonly Document[]> {
  const described = [...items];
  const rest = items.entries();
  async function work(): Promise<void> {
    for (const [at, item] of rest) described[at] = { ...item, served: await describeServed(call, text(item.api_id)) };
  }
  await Promise.all(Array.from({ length: maxStatusRequests }, work));
  return described;
}

async function describeServed(call: Control, apiId: string): Promise<string> {
  const status = await statusOf(call, apiId);
  if (typeof status === 'string') return status;
  if (status.served) return 'yes';
  const { reason } = status;
  return `no: ${reason.length > maxReasonLength ? `${reason.slice(0, maxReasonLength - 1)}…` : reason}`;
}

/** Removed meanwhile, or asked of a process without traffic: the list is shown all the same. */
async function statusOf(call: Control, apiId: string) {
  try {
    return (await orNothing(call('GET /gw/apis/{apiId}/status', { params: { apiId } }))) ?? 'removed';
  } catch (error) {
    if (error instanceof Problem && error.status === 503) return 'unknown';
    throw error;
  }
}

/** The organisation a document names says where its id is to be found. */
const owner = ({ org_id }: Document) => (text(org_id) === '' ? {} : { org_id: text(org_id) });

const keys: Kind = {
  noun: 'key',
  columns: { KEY: under('key') },
  async list(call, { filter, api }) {
    const query = { ...(filter && { filter }), ...(api && { api_id: api }) };
    return (await call('GET /gw/keys', { query })).keys.map(key => ({ key }));
  },
  get: (call, keyID) => call('GET /gw/keys/{keyID}', { params: { keyID } }),
  read: documentsIn,
  async apply(call, given) {
    const body = given as Document;
    const keyID = text(body.key_id);
    if (keyID === '') return call('POST /gw/keys', { body });
    const named = { params: { keyID }, body };
    const query = owner(body);
    if (await orNothing(call('GET /gw/keys/{keyID}', { params: { keyID }, query })))
      return call('PUT /gw/keys/{keyID}', { ...named, query });
    return call('POST /gw/keys/{keyID}', named);
  },
  remove: (call, keyID) => call('DELETE /gw/keys/{keyID}', { params: { keyID } }),
};

const rateOf = ({ rate, per }: Document) => (Number(rate) > 0 ? `${rate} in ${per} s` : 'any');
const quotaOf = ({ quota_max, quota_renewal_rate: renewal }: Document) =>
  Number(quota_max) > 0 ? `${quota_max}${Number(renewal) > 0 ? ` in ${renewal} s` : ''}` : 'any';

const policies: Kind = {
  noun: 'policy',
  columns: {
    ID: under('id'),
    NAME: under('name'),
    STATE: under('state'),
    RATE: rateOf,
    QUOTA: quotaOf,
    APIS: item => Object.keys((item.access_rights as object | null) ?? {}).join(','),
  },
  list: call => call('GET /gw/policies', {}),
  get: (call, policyID) => call('GET /gw/policies/{policyID}', { params: { policyID } }),
  read: documentsIn,
  async apply(call, given) {
    const body = given as Document;
    const params = { policyID: text(body.id) || text(body._id) };
    const query = owner(body);
    const known = params.policyID !== '' && (await orNothing(call('GET /gw/policies/{policyID}', { params, query })));
    return known ? call('PUT /gw/policies/{policyID}', { params, query, body }) : call('POST /gw/policies', { body });
  },
  remove: (call, policyID) => call('DELETE /gw/policies/{policyID}', { params: { policyID } }),
};

const certs: Kind = {
  noun: 'certificate',
  columns: {
    ID: under('id'),
    SUBJECT: under('subject_cn'),
    ISSUER: under('issuer_cn'),
    'GOOD UNTIL': under('not_after'),
    'PRIVATE KEY': item => yes(item.has_private),
  },
  async list(call) {
    return (await call('GET /gw/certs', { query: { mode: 'detailed' } })).certs as readonly Document[];
  },
  get: (call, certIDs) => call('GET /gw/certs/{certIDs}', { params: { certIDs } }),
  read: (given, path) => [pemIn(given, path)],
  async apply(call, pem) {
    const { id } = await call('POST /gw/certs', { body: String(pem) });
    return { key: id, action: 'added' };
  },
  remove: (call, certID) => call('DELETE /gw/certs/{certID}', { params: { certID } }),
};

export const kinds: ReadonlyMap<string, Kind> = new Map(Object.entries({ apis, keys, policies, certs }));
