import type { BatchApi } from '#analytics/batch.ts';
import { expandRequirements } from '#definition/security-requirements.ts';
import { listCredentialSources } from '../auth/credential-sources.ts';
import type { ApiInfo } from '../pipeline/api-info.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { ApiRecordHook } from '../plugins/record-contract.ts';
import { hasSecrets } from '../variables/variables.ts';

/** Where an API's requests carry credentials, which records must not contain. */
export interface CredentialLocations {
  /** Header names, lower-case. */
  readonly headers: ReadonlySet<string>;
  readonly parameters: readonly string[];
  readonly requestBody: boolean;
}

/** Conventional credential headers, redacted for every API. */
const credentialHeaders = [
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'x-api-key',
  'x-gw-authorization',
  'admin-auth',
];

/** The fields of an API that records copy. */
type RecordedFields = Pick<ApiInfo, 'id' | 'orgId' | 'name' | 'listenPath' | 'model'>;

/**
 * Per-API analytics state, held on the API to avoid a lookup per request. A class for its fixed shape; mutable fields
 * first, so that they share a cache line.
 */
export class ApiAnalytics {
  /** Rows in the metrics table and in the recent-stats table. */
  metricsRow = -1;
  statsTable: object | undefined = undefined;
  statsRow = 0;
  /** The batch it was last added to, and its index there. */
  batchNumber = -1;
  batchIndex = 0;
  /** Formatted members of access log lines; empty until the first. */
  accessLogMembers = '';
  /** Plugin that changes its records; undefined also where it did not load, see `hasRecordPlugin`. */
  recordHook: ApiRecordHook | undefined = undefined;
  readonly isRecorded: boolean;
  readonly hasRecordPlugin: boolean;
  readonly recordsDetail: boolean;
  readonly tagHeaders: readonly string[];
  readonly facts: BatchApi;
  readonly #model: ApiInfo['model'];
  #secrets: CredentialLocations | undefined;

  constructor({ id, orgId, name, listenPath, model }: RecordedFields) {
    const { trafficLogs, gatewayTags, detail } = model;
    const tags = gatewayTags.enabled ? gatewayTags.tags : [];
    this.facts = { id, orgId, name, listenPath, tags, retentionSeconds: trafficLogs.retentionSeconds };
    this.isRecorded = trafficLogs.enabled;
    this.hasRecordPlugin = trafficLogs.pluginEnabled;
    this.recordsDetail = detail.recording;
    this.tagHeaders = trafficLogs.tagHeaders.map(header => header.toLowerCase());
    this.#model = model;
  }

  /** Lazy: only detailed records and logged or traced queries need it. */
  get secrets(): CredentialLocations {
    this.#secrets ??= findCredentialLocations(this.#model);
    return this.#secrets;
  }
}

function findCredentialLocations(model: ApiInfo['model']): CredentialLocations {
  const places = listCredentialSources(model);
  return {
    headers: new Set([...credentialHeaders, ...places.map(({ header }) => header), ...listSecretHeaders(model)]),
    parameters: places.map(({ query }) => query).filter(Boolean),
    requestBody:
      model.authMethods.includes('basic') && expandRequirements(model).some(({ basic }) => basic.extractFromBody),
  };
}

/** Of all APIs that served the request: a looped request carries the credentials of each. */
export function readCredentialLocations({ previousApis }: Exchange, api: ApiAnalytics): CredentialLocations {
  if (previousApis === undefined) return api.secrets;
  const all = [api, ...(previousApis as RecordedApiInfo[]).map(({ analytics }) => analytics)];
  return {
    headers: new Set(all.flatMap(({ secrets }) => [...secrets.headers])),
    parameters: all.flatMap(({ secrets }) => secrets.parameters),
    requestBody: all.some(({ secrets }) => secrets.requestBody),
  };
}

type Options = { readonly add_headers?: unknown } | null | undefined;

/** Headers whose injected values contain a secret variable. */
function listSecretHeaders({ versions, responseProcessors }: ApiInfo['model']): string[] {
  const changes = versions.flatMap(({ requestHeaders, responseHeaders, endpoints }) => [
    requestHeaders,
    responseHeaders,
    ...endpoints.transformRequestHeaders,
    ...endpoints.transformResponseHeaders,
  ]);
  const injected = responseProcessors.list.map(({ options }) => Object((options as Options)?.add_headers));
  const all = [...changes.map(({ add }) => add), ...injected];
  const names = all.flatMap(add => Object.entries(add).filter(([, value]) => hasSecrets(String(value))));
  return names.map(([name]) => name.toLowerCase());
}

/** An API as recording meets it: compiled by `routing`, with its analytics beside it. */
export interface RecordedApiInfo extends ApiInfo {
  readonly analytics: ApiAnalytics;
}

/** Every API that serves a request was compiled by `routing`. */
export const findRecordedApi = (call: Pick<Exchange, 'api'>): RecordedApiInfo | undefined =>
  call.api as RecordedApiInfo | undefined;

/** Query parameters from which an API reads credentials. */
export const listCredentialParameters = (api: ApiInfo): readonly string[] =>
  (api as RecordedApiInfo).analytics.secrets.parameters;
