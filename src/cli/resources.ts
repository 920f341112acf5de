import { Problem } from '#base/problems.ts';
import { applyApi, type ImportFlags, importApi } from './api-documents.ts';
import { type ApplyResult, type ControlClient, findOrUndefined } from './control.ts';
import { type Document, parseDocuments, requirePem } from './documents.ts';

export interface ListQuery {
  readonly filter?: string | undefined;
  readonly api?: string | undefined;
}

/** Resource of the control API: how it is listed, read, applied and removed. */
export interface Resource {
  /** Singular, for messages. */
  readonly noun: string;
  /** Table columns, each with its accessor. */
  readonly columns: Readonly<Record<string, (item: Document) => unknown>>;
  list(call: ControlClient, query: ListQuery): Promise<readonly Document[]>;
  /** Adds columns that only the table shows. */
  describe?(call: ControlClient, items: readonly Document[]): Promise<readonly Document[]>;
  get(call: ControlClient, id: string): Promise<unknown>;
  /** Parses a file into documents; each is applied separately. */
  read(text: string, path: string): readonly unknown[];
  apply(call: ControlClient, document: unknown): Promise<ApplyResult>;
  /** Creates one from a document of another format. */
  import?(call: ControlClient, document: unknown, flags: ImportFlags): Promise<ApplyResult>;
  remove(call: ControlClient, id: string): Promise<unknown>;
}

const toText = (value: unknown) => (typeof value === 'string' ? value : '');
const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Document)[name] : undefined;
const memberAt =
  (...names: readonly string[]) =>
  (item: Document) =>
    names.reduce<unknown>(getMember, item);
const formatYesNo = (value: unknown) => (value ? 'yes' : 'no');

const apis: Resource = {
  noun: 'API',
  columns: {
    ID: memberAt('api_id'),
    NAME: memberAt('name'),
    'LISTEN PATH': memberAt('proxy', 'listen_path'),
    TARGET: memberAt('proxy', 'target_url'),
    FORMAT: item => (item.is_oas ? 'openapi' : 'classic'),
    ACTIVE: item => formatYesNo(item.active !== false),
    SERVED: memberAt('served'),
  },
  describe: addServed,
  list: call => call('GET /gw/apis', {}),
  async get(call, apiId) {
    const classic = await call('GET /gw/apis/{apiId}', { params: { apiId } });
    return classic.is_oas ? call('GET /gw/apis/oas/{apiId}', { params: { apiId } }) : classic;
  },
  read: parseDocuments,
  apply: (call, document) => applyApi(call, document as Document),
  import: (call, document, flags) => importApi(call, document as Document, flags),
  remove: (call, apiId) => call('DELETE /gw/apis/{apiId}', { params: { apiId } }),
};

/** Status requests in flight at one time. */
const maxStatusRequests = 8;
/** Truncates long reasons; GET /gw/apis/{apiId}/status returns them whole. */
const maxReasonLength = 60;

/** Adds the SERVED column: whether an API is served, and if not, why. */
async function addServed(call: ControlClient, items: readonly Document[]): Promise<readonly Document[]> {
  const described = [...items];
  const rest = items.entries();
  async function work(): Promise<void> {
    for (const [index, item] of rest)
      described[index] = { ...item, served: await describeServed(call, toText(item.api_id)) };
  }
  await Promise.all(Array.from({ length: maxStatusRequests }, work));
  return described;
}

async function describeServed(call: ControlClient, apiId: string): Promise<string> {
  const status = await readStatus(call, apiId);
  if (typeof status === 'string') return status;
  if (status.served) return 'yes';
  const { reason } = status;
  return `no: ${reason.length > maxReasonLength ? `${reason.slice(0, maxReasonLength - 1)}…` : reason}`;
}

/** An API removed meanwhile, or a process without a data plane, does not fail the list. */
async function readStatus(call: ControlClient, apiId: string) {
  try {
    return (await findOrUndefined(call('GET /gw/apis/{apiId}/status', { params: { apiId } }))) ?? 'removed';
  } catch (error) {
    if (error instanceof Problem && error.status === 503) return 'unknown';
    throw error;
  }
}

/** Query for the organisation that a document names. */
const toOwnerQuery = ({ org_id }: Document) => (toText(org_id) === '' ? {} : { org_id: toText(org_id) });

const keys: Resource = {
  noun: 'key',
  columns: { KEY: memberAt('key') },
  async list(call, { filter, api }) {
    const query = { ...(filter && { filter }), ...(api && { api_id: api }) };
    return (await call('GET /gw/keys', { query })).keys.map(key => ({ key }));
  },
  get: (call, keyID) => call('GET /gw/keys/{keyID}', { params: { keyID } }),
  read: parseDocuments,
  async apply(call, given) {
    const body = given as Document;
    const keyID = toText(body.key_id);
    if (keyID === '') return call('POST /gw/keys', { body });
    const named = { params: { keyID }, body };
    const query = toOwnerQuery(body);
    if (await findOrUndefined(call('GET /gw/keys/{keyID}', { params: { keyID }, query })))
      return call('PUT /gw/keys/{keyID}', { ...named, query });
    return call('POST /gw/keys/{keyID}', named);
  },
  remove: (call, keyID) => call('DELETE /gw/keys/{keyID}', { params: { keyID } }),
};

const formatRate = ({ rate, per }: Document) => (Number(rate) > 0 ? `${rate} in ${per} s` : 'any');
const formatQuota = ({ quota_max, quota_renewal_rate: renewal }: Document) =>
  Number(quota_max) > 0 ? `${quota_max}${Number(renewal) > 0 ? ` in ${renewal} s` : ''}` : 'any';

const policies: Resource = {
  noun: 'policy',
  columns: {
    ID: memberAt('id'),
    NAME: memberAt('name'),
    STATE: memberAt('state'),
    RATE: formatRate,
    QUOTA: formatQuota,
    APIS: item => Object.keys((item.access_rights as object | null) ?? {}).join(','),
  },
  list: call => call('GET /gw/policies', {}),
  get: (call, policyID) => call('GET /gw/policies/{policyID}', { params: { policyID } }),
  read: parseDocuments,
  async apply(call, given) {
    const body = given as Document;
    const params = { policyID: toText(body.id) || toText(body._id) };
    const query = toOwnerQuery(body);
    const known =
      params.policyID !== '' && (await findOrUndefined(call('GET /gw/policies/{policyID}', { params, query })));
    return known ? call('PUT /gw/policies/{policyID}', { params, query, body }) : call('POST /gw/policies', { body });
  },
  remove: (call, policyID) => call('DELETE /gw/policies/{policyID}', { params: { policyID } }),
};

const certs: Resource = {
  noun: 'certificate',
  columns: {
    ID: memberAt('id'),
    SUBJECT: memberAt('subject_cn'),
    ISSUER: memberAt('issuer_cn'),
    'VALID UNTIL': memberAt('not_after'),
    'PRIVATE KEY': item => formatYesNo(item.has_private),
  },
  async list(call) {
    return (await call('GET /gw/certs', { query: { mode: 'detailed' } })).certs as readonly Document[];
  },
  get: (call, certID) => call('GET /gw/certs/{certID}', { params: { certID } }),
  read: (given, path) => [requirePem(given, path)],
  async apply(call, pem) {
    const { id } = await call('POST /gw/certs', { body: String(pem) });
    return { key: id, action: 'added' };
  },
  remove: (call, certID) => call('DELETE /gw/certs/{certID}', { params: { certID } }),
};

export const resources: ReadonlyMap<string, Resource> = new Map(Object.entries({ apis, keys, policies, certs }));
